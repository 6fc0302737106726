// Schemas of the documents as ajv takes them, and stricter than clients should be.
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import formats from "ajv-formats";

type Schemas = Readonly<Record<string, JsonObject>>;

/** One for all, so what schemas have in common, and the schema of schemas, is compiled once. */
const ajv = new Ajv2020({ strict: false, allErrors: true });
formats.default(ajv);

/** The names of document components in the validator. */
const places = new Map<Schemas, string>();

/** Compiles a schema of a document with these components; what it has no word for is refused. */
export function strictValidator(schema: JsonObject, schemas: Schemas): ValidateFunction {
  return ajv.compile(closed(schema, placeOf(schemas)) as JsonObject);
}

function placeOf(schemas: Schemas): string {
  const known = places.get(schemas);
  if (known !== undefined) return known;
  const place = `https://document-${places.size}.test/`;
  places.set(schemas, place);
  for (const [name, schema] of Object.entries(schemas))
    ajv.addSchema(closed(schema, place) as JsonObject, place + name);
  return place;
}

/** Forbids, in every schema of an object, members that it does not name. */
function closed(json: JsonValue, place: string): JsonValue {
  if (Array.isArray(json)) return json.map((item) => closed(item, place));
  if (typeof json === "string") return json.replace(/^#\/components\/schemas\//, place);
  if (typeof json !== "object" || json === null) return json;
  const members = Object.fromEntries(Object.entries(json).map(([name, value]) => [name, closed(value, place)]));
  return json.type === "object" && json.properties ? { additionalProperties: false, ...members } : members;
}
