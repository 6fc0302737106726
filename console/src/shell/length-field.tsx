// A field for a length of time, of a few that are usual.
import { lengthText, useTexts } from "../texts/texts.ts";
import { SelectField } from "./select-field.tsx";

interface LengthFieldProps {
  /** The name of the field in the form. */
  readonly name: string;
  readonly label: string;
  readonly description?: string;
  /** The lengths that are offered, in milliseconds. */
  readonly lengths: readonly number[];
  /** The length that is chosen; it is offered, too. */
  readonly value: number;
  readonly error?: string | undefined;
  readonly onChange: (length: number) => void;
}

/** The field. */
export function LengthField({ lengths, value, onChange, ...field }: LengthFieldProps) {
  const { locale } = useTexts();
  const offered = [...new Set([...lengths, value])].sort((a, b) => a - b);
  return (
    <SelectField
      {...field}
      value={String(value)}
      choices={offered.map((length) => ({ value: String(length), text: lengthText(length, locale) }))}
      onChange={(chosen) => onChange(Number(chosen))}
    />
  );
}
