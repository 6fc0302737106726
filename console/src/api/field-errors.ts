// Errors of the API as a form shows them.
import { Code, ConnectError } from "@connectrpc/connect";
import { BadRequestSchema } from "../../../gen/google/rpc/error_details_pb.ts";
import { errorDetails } from "../../../packages/client/src/errors.ts";
import type { Texts } from "../texts/texts.ts";
import { errorText, ruleText } from "./error-text.ts";

/** The violations of a request. */
export interface FormErrors {
  /** By field of the form. */
  readonly fields: Readonly<Record<string, string>>;
  /** Violations of no field of the form. */
  readonly others: readonly string[];
}

export const noErrors: FormErrors = { fields: {}, others: [] };

/** The fields that errors are about, of which the server reports no violation. */
const fieldsOfReasons: Readonly<Record<string, string>> = { TERM_OUTLIVES_CALLER: "expire_time" };

/** Sorts an error by the fields of a form. */
export function formErrors(t: Texts, thrown: unknown, fields: readonly string[]): FormErrors {
  const { fieldViolations, reason } = errorDetails(thrown);
  if (fieldViolations.length === 0) {
    const field = fieldsOfReasons[reason];
    if (field !== undefined && fields.includes(field)) return { fields: { [field]: errorText(t, thrown) }, others: [] };
    return { fields: {}, others: [errorText(t, thrown)] };
  }
  const found: Record<string, string> = {};
  const others: string[] = [];
  for (const { field, description } of fieldViolations) {
    // An entry of a map or a list, such as `claims["ref"]`, belongs to the field of the whole.
    const [, whole = field, entry = ""] = /^(.*?)\[(.*)\]$/su.exec(field) ?? [];
    const own = fields.find((name) => whole === name || whole.endsWith(`.${name}`));
    const rule = ruleText(t, description);
    if (own === undefined) others.push(`${field}: ${rule}`);
    else found[own] ??= entry === "" ? rule : `${entry}: ${rule}`;
  }
  return { fields: found, others };
}

/** Returns the error of a field that only the form knows, as the server reports one of its own. */
export function fieldError(field: string, description: string): ConnectError {
  const details = [{ desc: BadRequestSchema, value: { fieldViolations: [{ field, description }] } }];
  return new ConnectError(description, Code.InvalidArgument, undefined, details);
}
