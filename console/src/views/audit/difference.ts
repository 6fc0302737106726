// What a change has changed: the fields of a resource before and after.
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";

/** A field that was added, removed or changed. */
export interface FieldChange {
  readonly field: string;
  readonly before?: string;
  readonly after?: string;
}

/** Fields that every change has, and that say nothing. */
const quiet = new Set(["updateTime"]);

/** Returns the fields that differ, in the order of their names. */
export function differenceOf(before: JsonObject | undefined, after: JsonObject | undefined): readonly FieldChange[] {
  const [old, now] = [flat(before), flat(after)];
  return [...new Set([...old.keys(), ...now.keys()])]
    .filter((field) => old.get(field) !== now.get(field) && !(quiet.has(field) && before && after))
    .sort()
    .map((field) => {
      const [was, is] = [old.get(field), now.get(field)];
      return { field, ...(was !== undefined && { before: was }), ...(is !== undefined && { after: is }) };
    });
}

/** Returns the fields of an object with those of objects in it: `claimMatch.issuer`. */
function flat(object: JsonObject | undefined, prefix = ""): Map<string, string> {
  const fields = new Map<string, string>();
  for (const [name, value] of Object.entries(object ?? {})) {
    if (isObject(value)) for (const [inner, text] of flat(value, `${prefix}${name}.`)) fields.set(inner, text);
    else fields.set(prefix + name, typeof value === "string" ? value : JSON.stringify(value));
  }
  return fields;
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
