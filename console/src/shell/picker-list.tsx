// A field for several groups, identities or roles: those that are chosen, and a picker for another one.
import { Input } from "@mantine/core";
import { useId } from "react";
import type { NamedKind } from "../api/named-kinds.ts";
import { useNamed } from "../api/naming.ts";
import { useTexts } from "../texts/texts.ts";
import chipStyles from "./chips.module.css";
import { Icon } from "./icon.tsx";
import { Picker } from "./picker.tsx";
import styles from "./picker-list.module.css";

interface PickerListProps {
  readonly kind: NamedKind;
  readonly label: string;
  readonly description?: string;
  /** The name of the field in the form. */
  readonly name: string;
  /** The group in which they lie; usually the organization. */
  readonly within: string;
  readonly values: readonly string[];
  readonly error?: string | undefined;
  readonly onChange: (values: string[]) => void;
}

/** The field. Each that is chosen has a button that removes it. */
export function PickerList({ kind, label, description, name, within, values, error, onChange }: PickerListProps) {
  const { t } = useTexts();
  const id = useId();
  const named = useNamed(values);
  return (
    <div className={styles.field}>
      <label htmlFor={id}>{label}</label>
      {description !== undefined && <Input.Description>{description}</Input.Description>}
      {values.length > 0 && (
        <ul className={chipStyles.chips} aria-label={label}>
          {values.map((uid) => (
            <li key={uid}>
              <button
                type="button"
                className={chipStyles.chip}
                onClick={() => onChange(values.filter((one) => one !== uid))}
              >
                <bdi>{named(uid)}</bdi> <Icon name="x" />
                <span className="hidden">{t("pairs.remove")}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
      <Picker
        // Empty again after each choice.
        key={values.length}
        kind={kind}
        id={id}
        name={name}
        label={label}
        within={within}
        value=""
        error={error}
        onChange={(uid) => {
          if (uid !== "" && !values.includes(uid)) onChange([...values, uid]);
        }}
      />
    </div>
  );
}
