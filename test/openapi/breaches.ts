// Values that break a schema in one place each.
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";

type Schemas = Readonly<Record<string, JsonObject>>;
type Breach = readonly [what: string, value: JsonValue];

/** No schema is looked into deeper than this: some hold themselves. */
const maxDepth = 6;

/** Breaks every constraint of the schema once; the rest of an object is what `valid` has, or what is required. */
export function breaches(schema: JsonObject, schemas: Schemas, valid?: JsonValue, depth = 0): Breach[] {
  if (depth > maxDepth) return [];
  if (typeof schema.$ref === "string") {
    return breaches(schemas[schema.$ref.split("/").at(-1)!]!, schemas, valid, depth + 1);
  }
  if (schema.readOnly) return [];
  if (Array.isArray(schema.enum)) return [["of another enum", "NO_SUCH_NAME"]];
  switch (schema.type) {
    case "object":
      return inObject(schema, schemas, valid, depth);
    case "array":
      return inArray(schema, schemas, depth);
    case "string":
      return inText(schema);
    case "integer":
      return inNumber(schema);
    case "boolean":
      return [["no boolean", "perhaps"]];
    default:
      return [];
  }
}

/** Returns a value that the schema allows. */
export function validValue(schema: JsonObject, schemas: Schemas, depth = 0): JsonValue {
  if (typeof schema.$ref === "string") {
    return validValue(schemas[schema.$ref.split("/").at(-1)!]!, schemas, depth + 1);
  }
  if (Array.isArray(schema.enum)) return schema.enum.at(-1)!;
  switch (schema.type) {
    case "object": {
      const required = (schema.required ?? []) as string[];
      const properties = (schema.properties ?? {}) as Schemas;
      return Object.fromEntries(required.map((name) => [name, validValue(properties[name]!, schemas, depth + 1)]));
    }
    case "array":
      return schema.minItems ? [validValue(schema.items as JsonObject, schemas, depth + 1)] : [];
    case "boolean":
      return true;
    case "integer":
      return Math.max(1, Number(schema.minimum ?? 1));
    default:
      return validText(schema);
  }
}

function validText({ pattern, format }: JsonObject): string {
  if (format === "date-time") return "2026-01-31T12:00:00Z";
  const candidates = [
    "name",
    "1",
    "3600s",
    "0".repeat(40),
    "0".repeat(36),
    "0".repeat(12),
    `sha256:${"0".repeat(64)}`,
    "application",
  ];
  const found = candidates.find((text) => typeof pattern !== "string" || new RegExp(pattern, "u").test(text));
  if (found === undefined) throw new Error(`no text of ${pattern}`);
  return found;
}

function inObject(schema: JsonObject, schemas: Schemas, valid: JsonValue | undefined, depth: number): Breach[] {
  const base = (valid ?? validValue(schema, schemas)) as JsonObject;
  const properties = (schema.properties ?? {}) as Schemas;
  const inMembers = Object.entries(properties).flatMap(([name, member]) =>
    breaches(member, schemas, base[name], depth + 1).map(
      ([what, value]): Breach => [`${name} ${what}`, { ...base, [name]: value }],
    ),
  );
  const leftOut = ((schema.required ?? []) as string[]).map((name): Breach => {
    const { [name]: _, ...others } = base;
    return [`${name} left out`, others];
  });
  const unknown: Breach[] = schema.additionalProperties === false ? [["unknown member", { ...base, noSuch: 1 }]] : [];
  const values = schema.additionalProperties;
  const inValues =
    typeof values === "object" && values !== null
      ? breaches(values as JsonObject, schemas, undefined, depth + 1).map(
          ([what, value]): Breach => [`value ${what}`, { [keyOf(schema)]: value }],
        )
      : [];
  const tooMany: Breach[] =
    typeof schema.maxProperties === "number"
      ? [["too many entries", entries(schema, schema.maxProperties + 1, validValue(values as JsonObject, schemas))]]
      : [];
  return [["no object", 1], ...inMembers, ...leftOut, ...unknown, ...inValues, ...tooMany];
}

/** Returns a key that the schema of a map allows. */
function keyOf(schema: JsonObject): string {
  const names = schema.propertyNames as JsonObject | undefined;
  return Array.isArray(names?.enum) ? String(names.enum[0]) : "1";
}

function entries(schema: JsonObject, count: number, value: JsonValue): JsonObject {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [keyOf(schema) + i, value]));
}

function inArray(schema: JsonObject, schemas: Schemas, depth: number): Breach[] {
  const items = schema.items as JsonObject;
  const inItems = breaches(items, schemas, undefined, depth + 1).map(
    ([what, value]): Breach => [`item ${what}`, [value]],
  );
  const tooMany: Breach[] =
    typeof schema.maxItems === "number"
      ? [["too many items", Array(schema.maxItems + 1).fill(validValue(items, schemas))]]
      : [];
  const tooFew: Breach[] = schema.minItems ? [["no items", []]] : [];
  return [...inItems, ...tooMany, ...tooFew];
}

function inText(schema: JsonObject): Breach[] {
  const { minLength, maxLength, pattern, format } = schema;
  // The JSON of protobuf has whole numbers of 64 bits as texts, and takes numbers.
  const found: Breach[] = format === "int64" ? [] : [["no text", 7]];
  if (minLength) found.push(["empty", ""]);
  if (typeof maxLength === "number") found.push(["too long", "1".repeat(maxLength + 1)]);
  if (typeof pattern === "string") found.push(...outside(pattern));
  if (format === "date-time") found.push(["no time", "yesterday"]);
  return found;
}

function outside(pattern: string): Breach[] {
  const expression = new RegExp(pattern, "u");
  const text = ["No such text!", "\0", "x\ny"].find((candidate) => !expression.test(candidate));
  return text === undefined ? [] : [["outside its pattern", text]];
}

function inNumber({ minimum, maximum }: JsonObject): Breach[] {
  const found: Breach[] = [["no number", "x"]];
  if (typeof minimum === "number") found.push(["too small", minimum - 1]);
  if (typeof maximum === "number") found.push(["too large", maximum + 1]);
  return found;
}
