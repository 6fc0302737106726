// The variables of a case: `${owner}`, `${roles.viewer}`.
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";

/** The values by name; those of an object are named by a path. */
export type Variables = Record<string, JsonValue>;

const reference = /\$\{([\w.]+)\}/g;

/** Returns the value with the variables in its texts filled in; a text that is nothing but a variable becomes its value. */
export function fillIn<T extends JsonValue>(value: T, variables: Variables): T {
  return fill(value, variables) as T;
}

/** Returns the value at a path such as `groups.0.uid`; throws if there is none. */
export function valueAt(value: JsonValue, path: string): JsonValue {
  let found: JsonValue | undefined = value;
  for (const name of path.split(".")) {
    found = typeof found === "object" && found !== null ? (found as JsonObject)[name] : undefined;
  }
  if (found === undefined) throw new Error(`nothing stands at ${path}`);
  return found;
}

function fill(value: JsonValue, variables: Variables): JsonValue {
  if (typeof value === "string") return fillText(value, variables);
  if (Array.isArray(value)) return value.map((item) => fill(item, variables));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [String(fillText(name, variables)), fill(item, variables)]),
  );
}

function fillText(text: string, variables: Variables): JsonValue {
  const whole = /^\$\{([\w.]+)\}$/.exec(text);
  if (whole?.[1]) return valueAt(variables, whole[1]);
  return text.replace(reference, (_match, path: string) => String(valueAt(variables, path)));
}
