// The context that all fields of a form share.
import { createContext, useContext } from "react";
import { type Texts, useTexts } from "../../texts/texts.ts";
import type { Violation } from "./check.ts";
import type { Descriptions } from "./fields.ts";

/** A form: its descriptions, and the rules that its values break. */
export interface FormState extends Descriptions {
  readonly violations: readonly Violation[];
  /** The name of the method. */
  readonly method: string;
  /** The names of fields that the path fills. */
  readonly given: readonly string[];
  /** Goes to the body as JSON. */
  readonly onJson: () => void;
}

export const FormContext = createContext<FormState | undefined>(undefined);

/** Returns the form that a field is in. */
export function useForm(): FormState {
  return useContext(FormContext)!;
}

/** Returns the first rule that the value at a path breaks, in words. */
export function useProblem(path: string): string | undefined {
  const { t } = useTexts();
  const violation = useForm().violations.find((one) => one.path === path);
  return violation && problemText(t, violation);
}

/** Returns a broken rule in words. */
export function problemText(t: Texts, { rule, wanted }: Violation): string {
  switch (rule) {
    case "pattern":
      return `${t("reference.pattern")} ${wanted}`;
    case "minLength":
    case "maxLength":
    case "minimum":
    case "maximum":
    case "minItems":
    case "maxItems":
      return t(`reference.${rule}`, { count: wanted });
    case "type":
      return t("reference.rule.type", { type: wanted });
    default:
      return t(`reference.rule.${rule}`, { wanted });
  }
}
