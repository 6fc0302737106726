// Schemas of the documents as ajv takes them, and stricter than clients should be.
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import formats from "ajv-formats";

/** Compiles a schema of a document with these components; what it has no word for is refused. */
export function strictValidator(schema: JsonObject, schemas: Readonly<Record<string, JsonObject>>): ValidateFunction {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  formats.default(ajv);
  return ajv.compile({ ...(closed(schema) as JsonObject), components: { schemas: closed(schemas) } });
}

/** Forbids, in every schema of an object, members that it does not name. */
function closed(json: JsonValue): JsonValue {
  if (Array.isArray(json)) return json.map(closed);
  if (typeof json !== "object" || json === null) return json;
  const members = Object.fromEntries(Object.entries(json).map(([name, value]) => [name, closed(value)]));
  return json.type === "object" && json.properties ? { additionalProperties: false, ...members } : members;
}
