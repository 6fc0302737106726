// The access rules of methods. The proto descriptor is the policy: it declares the capabilities of each method and the
// field with the uid at which they are checked.
import {
  type DescField,
  type DescMessage,
  type DescMethod,
  getOption,
  hasOption,
  type Message,
} from "@bufbuild/protobuf";
import { iam, iam_scope } from "../../gen/chainguard/annotations/auth_pb.ts";
import { readField } from "../aip/fields.ts";
import { memoizeByObject } from "../base/lazy.ts";

/** The callers that may call a method. */
export type AccessRule =
  /** Anyone, without a token. */
  | { readonly type: "open" }
  /** Callers with the capabilities at the uid that the request names. */
  | {
      readonly type: "scoped";
      readonly capabilities: readonly number[];
      readonly field: string;
      scopeOf(request: Message): string;
    }
  /** Callers with the capabilities anywhere; without capabilities, every authenticated caller. */
  | { readonly type: "unscoped"; readonly capabilities: readonly number[] };

/** Returns the rule of a method, or undefined if it has none. Throws if the rule cannot be applied. */
export const accessRuleOf = memoizeByObject(readAccessRule);

function readAccessRule(method: DescMethod): AccessRule | undefined {
  if (!hasOption(method, iam)) return undefined;
  const { mode } = getOption(method, iam);
  if (mode.case === "disabled") return { type: "open" };
  if (mode.case !== "enabled") throw new Error(`${method.toString()}: the access rule has no mode`);
  const { capabilities, unscoped } = mode.value;
  if (unscoped) return { type: "unscoped", capabilities };
  if (capabilities.length === 0) throw new Error(`${method.toString()}: a scoped rule needs a capability`);
  const path = scopePath(method.input);
  if (!path) throw new Error(`${method.toString()}: no field is marked as the scope`);
  return {
    type: "scoped",
    capabilities,
    field: path.map((field) => field.name).join("."),
    scopeOf: (request) => readPath(request, path),
  };
}

/** Returns the path to the field marked as the scope. */
function scopePath(message: DescMessage): DescField[] | undefined {
  const field = message.fields.find((candidate) => getOption(candidate, iam_scope));
  if (!field) return undefined;
  if (field.fieldKind !== "message") return [field];
  const rest = scopePath(field.message);
  return rest && [field, ...rest];
}

function readPath(message: Message, path: readonly DescField[]): string {
  let value: unknown = message;
  for (const field of path) {
    if (value === undefined) return "";
    value = readField(value as Message, field);
  }
  return value === undefined ? "" : String(value);
}
