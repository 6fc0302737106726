// A field for one of a few values.
import { Input } from "@mantine/core";
import { useId } from "react";

interface SelectFieldProps {
  /** The name of the field in the form, if it is in one. */
  readonly name?: string;
  readonly label: string;
  readonly description?: string;
  readonly value: string;
  readonly choices: readonly { readonly value: string; readonly text: string }[];
  readonly error?: string | undefined;
  /** Whether it has the focus when the dialog opens. */
  readonly isFirst?: boolean;
  readonly onChange: (value: string) => void;
}

/** The field. The browser shows the choices. */
export function SelectField({
  name,
  label,
  description,
  value,
  choices,
  error,
  isFirst = false,
  onChange,
}: SelectFieldProps) {
  const id = useId();
  const about = [...(description === undefined ? [] : [`${id}-help`]), ...(error === undefined ? [] : [`${id}-error`])];
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {description !== undefined && <Input.Description id={`${id}-help`}>{description}</Input.Description>}
      <select
        id={id}
        {...(name !== undefined && { name })}
        className="select"
        value={value}
        aria-invalid={error !== undefined}
        {...(about.length > 0 && { "aria-describedby": about.join(" ") })}
        {...(isFirst && { "data-autofocus": true })}
        onChange={({ target }) => onChange(target.value)}
      >
        {choices.map((choice) => (
          <option key={choice.value} value={choice.value}>
            {choice.text}
          </option>
        ))}
      </select>
      {error !== undefined && (
        <Input.Error id={`${id}-error`} role="alert">
          {error}
        </Input.Error>
      )}
    </div>
  );
}
