// Fields for the entries of a map: a name and a value each.
import { Button, Input, TextInput } from "@mantine/core";
import { useId } from "react";
import { useTexts } from "../texts/texts.ts";
import type { Pair } from "./entries.ts";
import styles from "./pairs.module.css";

interface PairsProps {
  /** The name of the field in the form. */
  readonly name: string;
  readonly label: string;
  readonly description?: string;
  /** The labels of the names, and of the values. */
  readonly columns: Pair;
  /** The text of the button that adds an entry. */
  readonly add: string;
  readonly pairs: readonly Pair[];
  readonly error?: string | undefined;
  readonly onChange: (pairs: readonly Pair[]) => void;
}

/** A row of two fields for each entry, with buttons that add and remove one. */
export function Pairs({ name, label, description, columns, add, pairs, error, onChange }: PairsProps) {
  const { t } = useTexts();
  const problem = useId();
  const put = (index: number, pair: Pair) => onChange(pairs.with(index, pair));
  const about = { "aria-invalid": error !== undefined, ...(error !== undefined && { "aria-describedby": problem }) };
  return (
    <fieldset className={styles.pairs} {...about}>
      <legend>{label}</legend>
      {description !== undefined && <p className="muted small">{description}</p>}
      {pairs.map(([key, value], index) => (
        <div key={index} className={styles.pair}>
          <TextInput
            {...(index === 0 && { name })}
            aria-label={`${columns[0]} ${index + 1}`}
            placeholder={columns[0]}
            value={key}
            autoComplete="off"
            spellCheck={false}
            onChange={({ currentTarget }) => put(index, [currentTarget.value, value])}
          />
          <TextInput
            aria-label={`${columns[1]} ${index + 1}`}
            placeholder={columns[1]}
            value={value}
            autoComplete="off"
            spellCheck={false}
            onChange={({ currentTarget }) => put(index, [key, currentTarget.value])}
          />
          <Button
            variant="subtle"
            size="sm"
            aria-label={t("pairs.removeNamed", { what: key || String(index + 1) })}
            onClick={() => onChange(pairs.toSpliced(index, 1))}
          >
            {t("pairs.remove")}
          </Button>
        </div>
      ))}
      {error !== undefined && (
        <Input.Error id={problem} role="alert">
          {error}
        </Input.Error>
      )}
      <div>
        <Button variant="default" size="compact-sm" onClick={() => onChange([...pairs, ["", ""]])}>
          {add}
        </Button>
      </div>
    </fieldset>
  );
}
