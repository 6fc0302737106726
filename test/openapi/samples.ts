// Values that a schema of ours allows.
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";

type Schemas = Readonly<Record<string, JsonObject>>;

/** Values of the schema: objects have one member each, so every member of every object is in one of them. */
export function samplesOf(schema: JsonObject, schemas: Schemas): JsonValue[] {
  if (typeof schema.$ref === "string") return samplesOf(schemas[schema.$ref.split("/").at(-1)!]!, schemas);
  if (Array.isArray(schema.enum)) return schema.enum;
  // A number, or a word for one that JSON cannot write.
  if (Array.isArray(schema.anyOf)) return samplesOf(schema.anyOf[0] as JsonObject, schemas);
  switch (schema.type) {
    case "object":
      return objectsOf(schema, schemas);
    case "array":
      return samplesOf(schema.items as JsonObject, schemas).map((item) => [item]);
    case "boolean":
      return [true];
    case "integer":
    case "number":
      return [1];
    case "string":
      return [textOf(schema)];
    default:
      throw new Error(`no sample of ${JSON.stringify(schema)}`);
  }
}

function objectsOf({ properties = {}, additionalProperties }: JsonObject, schemas: Schemas): JsonValue[] {
  const members = Object.entries(properties as Schemas).flatMap(([name, member]) =>
    samplesOf(member, schemas).map((value) => ({ [name]: value })),
  );
  if (typeof additionalProperties !== "object") return [{}, ...members];
  return samplesOf(additionalProperties as JsonObject, schemas).map((value) => ({ "1": value }));
}

function textOf({ format, pattern, contentEncoding }: JsonObject): string {
  if (format === "date-time") return "2026-01-31T12:00:00.000Z";
  if (contentEncoding === "base64") return "AAAA";
  if (pattern === undefined) return "name";
  if (String(pattern).includes("a-f")) return "0123456789".repeat(4);
  return String(pattern).endsWith("s$") ? "3600s" : "1";
}
