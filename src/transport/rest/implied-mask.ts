import type { DescField, DescMessage, JsonObject, JsonValue } from "@bufbuild/protobuf";
import { isJsonObject } from "../../base/json.ts";
import { findField, isWellKnown } from "./field-path.ts";

/**
 * The paths, in proto names, of what a JSON object mentions: a PATCH without mask changes exactly that.
 *
 * Nested messages are followed down to their members; lists, maps, google.protobuf messages, nulls and empty objects
 * count as they are. Members that no field answers to do not count.
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
