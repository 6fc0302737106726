import type { DescField, DescMessage, JsonObject, JsonValue } from "@bufbuild/protobuf";
import { isJsonObject } from "../../base/json.ts";
import { findField, isWellKnown } from "../json/field-path.ts";

/**
 * Returns the paths, in proto names, of the fields in a JSON object: a PATCH without mask changes exactly these.
 *
 * Nested messages contribute the paths of their members. Lists, maps, google.protobuf messages, nulls and empty objects are paths
 * themselves. Unknown members are ignored.
 */
export function impliedMask(schema: DescMessage, json: JsonObject): string[] {
  return Object.entries(json).flatMap(([name, value]) => {
    const field = findField(schema, name);
    return field ? pathsOf(field, value) : [];
  });
}

function pathsOf(field: DescField, json: JsonValue): string[] {
  const isHolder = field.fieldKind === "message" && !isWellKnown(field.message);
  if (!isHolder || !isJsonObject(json) || Object.keys(json).length === 0) return [field.name];
  return impliedMask(field.message, json).map((path) => `${field.name}.${path}`);
}
