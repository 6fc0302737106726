// The descriptor is the policy: who may call a method, and at which uid it is checked, stands beside the method.
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
import { oncePer } from "../base/lazy.ts";

/** Who may call a method. */
export type AccessRule =
  /** Anyone, without a token. */
  | { readonly type: "open" }
  /** Whoever holds the capabilities at the uid that the request names. */
  | {
      readonly type: "scoped";
      readonly capabilities: readonly number[];
      readonly field: string;
      scopeOf(request: Message): string;
    }
  /** Whoever holds the capabilities anywhere; with none, whoever has a token. */
  | { readonly type: "unscoped"; readonly capabilities: readonly number[] };

/** The rule of a method; undefined when it has none. Throws when the rule cannot be applied. */
export const accessRuleOf = oncePer(readAccessRule);

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

/** The fields that lead to the uid marked as the scope. */
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
