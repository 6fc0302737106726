// The filters of a list that are in force, each with a button that removes it.
import { useTexts } from "../texts/texts.ts";
import styles from "./chips.module.css";
import { Icon } from "./icon.tsx";

/** A filter that is in force. */
export interface Chip {
  /** The name of the filter, such as "Severity". */
  readonly label: string;
  readonly value: string;
  readonly onRemove: () => void;
}

/** The filters, and a button that removes all if there are several. Nothing without one. */
export function Chips({ chips, onClear }: { readonly chips: readonly Chip[]; readonly onClear: () => void }) {
  const { t } = useTexts();
  if (chips.length === 0) return null;
  return (
    <ul className={styles.chips} aria-label={t("list.filters")}>
      {chips.map(({ label, value, onRemove }) => (
        <li key={label}>
          <button type="button" className={styles.chip} onClick={onRemove}>
            <span className="muted">{label}</span> <bdi>{value}</bdi> <Icon name="x" />
            <span className="hidden">{t("list.removeFilter")}</span>
          </button>
        </li>
      ))}
      {chips.length > 1 && (
        <li>
          <button type="button" className="link" onClick={onClear}>
            {t("list.clear")}
          </button>
        </li>
      )}
    </ul>
  );
}
