// Errors of the API as a form shows them.
import { ConnectError } from "@connectrpc/connect";
import { BadRequestSchema, ErrorInfoSchema } from "../../../gen/google/rpc/error_details_pb.ts";

/** What is wrong with a request. */
export interface FormErrors {
  /** By field of the form. */
  readonly fields: Readonly<Record<string, string>>;
  /** What belongs to no field of the form. */
  readonly others: readonly string[];
}

export const noErrors: FormErrors = { fields: {}, others: [] };

/** Sorts an error by the fields of a form. */
export function formErrors(thrown: unknown, fields: readonly string[]): FormErrors {
  const error = ConnectError.from(thrown);
  const violations = error.findDetails(BadRequestSchema).flatMap(({ fieldViolations }) => fieldViolations);
  if (violations.length === 0) return { fields: {}, others: [error.rawMessage] };
  const found: Record<string, string> = {};
  const others: string[] = [];
  for (const { field, description } of violations) {
    // An entry of a map or a list, such as `claims["ref"]`, belongs to the field of the whole.
    const [, whole = field, entry = ""] = /^(.*?)\[(.*)\]$/su.exec(field) ?? [];
    const own = fields.find((name) => whole === name || whole.endsWith(`.${name}`));
    if (own === undefined) others.push(`${field}: ${description}`);
    else found[own] ??= entry === "" ? description : `${entry}: ${description}`;
  }
  return { fields: found, others };
}

/** Returns the reason and the metadata of an error. */
export function errorInfo(thrown: unknown): {
  readonly reason: string;
  readonly metadata: Readonly<Record<string, string>>;
} {
  const [info] = ConnectError.from(thrown).findDetails(ErrorInfoSchema);
  return { reason: info?.reason ?? "", metadata: info?.metadata ?? {} };
}

/** Returns the id by which the operator finds the request in the log. */
export function requestIdOf(thrown: unknown): string {
  return ConnectError.from(thrown).metadata.get("x-request-id") ?? "";
}
