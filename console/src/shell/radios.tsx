// A choice of one of a few values, all of which are visible.
import styles from "./radios.module.css";

interface RadiosProps<Value extends string | number> {
  readonly legend: string;
  /** The name of the group of buttons. */
  readonly name: string;
  readonly choices: readonly { readonly value: Value; readonly text: string }[];
  readonly value: Value;
  /** Whether they stand in lines, for short texts. */
  readonly isInline?: boolean;
  /** Whether the choice has the focus when the dialog opens. */
  readonly isFirst?: boolean;
  readonly onChange: (value: Value) => void;
}

/** Radio buttons. Arrow keys move the choice. */
export function Radios<Value extends string | number>({
  legend,
  name,
  choices,
  value,
  isInline = false,
  isFirst = false,
  onChange,
}: RadiosProps<Value>) {
  return (
    <fieldset className={isInline ? `${styles.radios} ${styles.inline}` : styles.radios}>
      <legend>{legend}</legend>
      {choices.map((choice) => (
        <label key={choice.value}>
          <input
            type="radio"
            name={name}
            checked={value === choice.value}
            {...(isFirst && value === choice.value && { "data-autofocus": true })}
            onChange={() => onChange(choice.value)}
          />
          {choice.text}
        </label>
      ))}
    </fieldset>
  );
}
