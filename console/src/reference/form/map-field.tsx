// The entries of a map.
import { type ReactNode, useId, useState } from "react";
import { useTexts } from "../../texts/texts.ts";
import { pathOf } from "./check.ts";
import { type FormField, itemOf } from "./fields.ts";
import styles from "./form.module.css";
import { Problem, type ValueProps } from "./scalar-field.tsx";

type Entry = readonly [key: string, value: unknown];

/** A key and a value for each entry, and a button that adds one. */
export function MapEntries({
  field,
  path,
  entries,
  empty,
  focus,
  onChange,
  render,
}: {
  readonly field: FormField;
  readonly path: string;
  readonly entries: readonly Entry[];
  /** The value of a new entry. */
  readonly empty: unknown;
  readonly focus: (change: () => void) => void;
  readonly onChange: (entries: readonly Entry[]) => void;
  readonly render: (props: ValueProps) => ReactNode;
}) {
  const { t } = useTexts();
  return (
    <>
      {entries.map(([key, value], index) => (
        <div key={index} className={styles.entry}>
          <Key
            value={key}
            others={entries.filter((_one, other) => other !== index).map(([other]) => other)}
            onChange={(renamed) => onChange(entries.with(index, [renamed, value]))}
          />
          {render({
            field: itemOf(field, t("reference.form.value")),
            value,
            path: pathOf(path, key),
            onChange: (changed) => onChange(entries.with(index, [key, changed ?? empty])),
            action: (
              <button
                type="button"
                className={`plain ${styles.remove}`}
                aria-label={t("reference.form.remove", { name: key })}
                onClick={() => focus(() => onChange(entries.toSpliced(index, 1)))}
              >
                ✕
              </button>
            ),
          })}
        </div>
      ))}
      <div>
        <button
          type="button"
          className="plain"
          data-add
          disabled={entries.some(([key]) => key === "")}
          onClick={() => focus(() => onChange([...entries, ["", empty]]))}
        >
          {t("reference.form.add", { name: field.name })}
        </button>
      </div>
    </>
  );
}

/** The key of an entry. One that another entry has is not taken over: the two would become one. */
function Key({
  value,
  others,
  onChange,
}: {
  readonly value: string;
  readonly others: readonly string[];
  readonly onChange: (key: string) => void;
}) {
  const { t } = useTexts();
  const id = useId();
  const [twice, setTwice] = useState<string>();
  return (
    <div className="field">
      <label htmlFor={id}>{t("reference.form.key")}</label>
      <input
        id={id}
        className="input"
        spellCheck={false}
        autoComplete="off"
        value={twice ?? value}
        aria-invalid={twice !== undefined || undefined}
        aria-describedby={twice === undefined ? undefined : `${id}-problem`}
        onChange={({ target }) => {
          const isTwice = others.includes(target.value);
          setTwice(isTwice ? target.value : undefined);
          if (!isTwice) onChange(target.value);
        }}
      />
      {twice !== undefined && <Problem id={`${id}-problem`} text={t("reference.form.twice")} />}
    </div>
  );
}
