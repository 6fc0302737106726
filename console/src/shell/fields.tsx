// Text fields of forms.
import { TextInput, type TextInputProps } from "@mantine/core";
import type { TextId } from "../texts/catalogues.ts";
import { useTexts } from "../texts/texts.ts";

interface TextFieldProps extends Omit<TextInputProps, "value" | "onChange"> {
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** A field for a text. Browsers do not offer what was typed elsewhere. `name` and `error` are those of the field in the API. */
export function TextField({ onChange, ...props }: TextFieldProps) {
  return <TextInput autoComplete="off" {...props} onChange={({ currentTarget }) => onChange(currentTarget.value)} />;
}

/** A text field of a resource. */
export interface FieldOf<Name extends string> {
  /** The name in the values of the form: that of the field in the API, or its path. */
  readonly name: Name;
  readonly text: TextId;
  readonly help?: TextId;
}

/** Returns the last name of the path of a field, by which forms know it. */
export function fieldName(path: string): string {
  return path.slice(path.lastIndexOf(".") + 1);
}

interface TextFieldsProps<Name extends string, Values extends Readonly<Record<Name, string>>> {
  readonly fields: readonly FieldOf<Name>[];
  readonly values: Values;
  readonly errors: Readonly<Record<string, string>>;
  readonly onChange: (values: Values) => void;
}

/** The text fields of a resource. The first one has the focus when the dialog opens. */
export function TextFields<Name extends string, Values extends Readonly<Record<Name, string>>>({
  fields,
  values,
  errors,
  onChange,
}: TextFieldsProps<Name, Values>) {
  const { t } = useTexts();
  return fields.map(({ name, text, help }, index) => (
    <TextField
      key={name}
      name={fieldName(name)}
      label={t(text)}
      {...(help !== undefined && { description: t(help) })}
      value={values[name]}
      error={errors[fieldName(name)]}
      {...(index === 0 && { "data-autofocus": true })}
      onChange={(value) => onChange({ ...values, [name]: value })}
    />
  ));
}
