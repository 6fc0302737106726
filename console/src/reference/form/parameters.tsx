// The parameters in path and query of a call.
import { useTexts } from "../../texts/texts.ts";
import type { Parameter } from "../documents.ts";
import type { Draft } from "../request.ts";
import { parameterField } from "./fields.ts";
import { FormContext, type FormState } from "./form-context.ts";
import { ScalarField } from "./scalar-field.tsx";

interface ParametersProps {
  readonly form: Omit<FormState, "onJson">;
  readonly parameters: readonly Parameter[];
  readonly values: Draft["parameters"];
  readonly onChange: (name: string, text: string) => void;
}

/** A field for each parameter, required ones first. */
export function Parameters({ form, parameters, values, onChange }: ParametersProps) {
  const { t } = useTexts();
  const optional = parameters.filter(({ required }) => !required);
  const render = (parameter: Parameter) => (
    <ScalarField
      key={parameter.name}
      field={parameterField(parameter, t("reference.commas"))}
      value={values[parameter.name] || undefined}
      path={parameter.name}
      onChange={(value) => onChange(parameter.name, String(value ?? ""))}
    />
  );
  return (
    <FormContext value={{ ...form, onJson: () => {} }}>
      {parameters.filter(({ required }) => required).map(render)}
      {optional.length > 0 && (
        <details>
          <summary>{t("reference.optional", { count: optional.length })}</summary>
          <div className="stack optional">{optional.map(render)}</div>
        </details>
      )}
    </FormContext>
  );
}
