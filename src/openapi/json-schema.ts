// JSON Schema (2020-12) of what encoder.ts writes and decoder.ts accepts.
import { type DescEnum, type DescField, type DescMessage, type JsonObject, ScalarType } from "@bufbuild/protobuf";
import { hasCustomJsonRepresentation, isWrapperDesc } from "@bufbuild/protobuf/wkt";
import { isInputOnly, isOutputOnly, isRequiredInside } from "../aip/field-behavior.ts";
import { type FieldRules, plainTextRule } from "../pipeline/text-rules.ts";
import { durationText } from "../transport/json/decode-well-known.ts";
import { isAlwaysWritten } from "../transport/json/encoder.ts";

/**
 * The use of the JSON. A response has all fields that are always written, an error detail no zero values. A request has all required
 * fields and no unknown ones, an update any fields.
 */
export type JsonUse = "reply" | "detail" | "request" | "update";

const noRules: FieldRules = { text: () => undefined, bounds: () => ({}) };

const integerText = "^-?[0-9]+$";

/** The context of a schema. */
export interface SchemaContext {
  /** Returns a reference to the schema of a message or enum. */
  refer(desc: DescMessage | DescEnum, use: JsonUse): JsonObject;
  /** Returns the description of a field; may be empty. */
  describe(field: DescField): string;
  /** The rules for the fields of requests. */
  readonly rules: FieldRules;
}

/** Whether a request without the field is rejected. A missing number, boolean or enum cannot be distinguished from zero. */
export function isNeededInside(field: DescField): boolean {
  const hasZero = field.fieldKind === "enum" || (field.fieldKind === "scalar" && field.scalar !== ScalarType.STRING);
  return isRequiredInside(field) && !hasZero;
}

const nothing: ReadonlySet<DescField> = new Set();

/**
 * Returns the schema of a message outside a field (`valueSchema` makes those of fields). The `given` fields of a request are in its
 * path, so the body need not have them.
 */
export function messageSchema(
  message: DescMessage,
  use: JsonUse,
  context: SchemaContext,
  given: ReadonlySet<DescField> = nothing,
): JsonObject {
  const wellKnown = wellKnownSchema(message);
  if (wellKnown) return wellKnown;
  // A response has no input-only fields.
  const fields = isInput(use) ? message.fields : message.fields.filter((field) => !isInputOnly(field));
  const isNeeded = (field: DescField) =>
    use === "reply"
      ? isAlwaysWritten(field)
      : use === "request" && isNeededInside(field) && !isOutputOnly(field) && !given.has(field);
  const required = fields.filter(isNeeded).map(({ jsonName }) => jsonName);
  return {
    type: "object",
    properties: Object.fromEntries(
      fields.map((field) => [field.jsonName, memberSchema(field, use, context, given.has(field))]),
    ),
    ...(required.length > 0 && { required }),
    // Clients must accept members of later versions; the server rejects unknown ones.
    ...(isInput(use) && { additionalProperties: false }),
  };
}

/** Returns the schema of a field. */
export function fieldSchema(field: DescField, use: JsonUse, context: SchemaContext): JsonObject {
  const value = valueSchema(field, use, context);
  const { maxItems, minimum } = isInput(use) ? context.rules.bounds(field) : {};
  const least = isInput(use) && use !== "update" && isRequiredInside(field) ? 1 : undefined;
  if (field.fieldKind === "list") {
    return { type: "array", ...stated({ minItems: least, maxItems }), items: value };
  }
  if (field.fieldKind === "map") {
    const bounds = stated({ minProperties: least, maxProperties: maxItems });
    return { type: "object", ...bounds, ...keySchema(field.mapKey), additionalProperties: value };
  }
  return { ...value, ...stated({ minimum }) };
}

/** Returns the schema of an enum: its names. */
export function enumSchema(schema: DescEnum): JsonObject {
  if (schema.typeName === "google.protobuf.NullValue") return { type: "null" };
  return { type: "string", enum: schema.values.map(({ name }) => name) };
}

function memberSchema(field: DescField, use: JsonUse, context: SchemaContext, isGiven: boolean): JsonObject {
  const description = context.describe(field);
  // In a request an output-only field is ignored, except for its type.
  const isIgnored = isInput(use) && isOutputOnly(field);
  return {
    ...(isIgnored || isGiven
      ? fieldSchema(field, "update", { ...context, rules: noRules })
      : fieldSchema(field, use, context)),
    ...(description !== "" && { description }),
    // A request may have it: clients may send a resource back as they read it.
    ...(isIgnored && { readOnly: true }),
    ...(isInputOnly(field) && { writeOnly: true }),
    ...(field.deprecated && { deprecated: true }),
  };
}

/** Returns the schema of one value or item of a field. */
function valueSchema(field: DescField, use: JsonUse, context: SchemaContext): JsonObject {
  if (field.message) return wellKnownSchema(field.message) ?? context.refer(field.message, use);
  if (field.enum) return context.refer(field.enum, use);
  return field.scalar === ScalarType.STRING && isInput(use) ? givenText(field, context) : scalarSchema(field.scalar);
}

/** Returns the schema of a text in a request. Rules count UTF-16 units, and JSON Schema counts code points, which are never more. */
function givenText(field: DescField, { rules }: SchemaContext): JsonObject {
  const { pattern, maxLength = Number.POSITIVE_INFINITY } = rules.text(field) ?? {};
  const isOptional = field.fieldKind !== "list" && field.fieldKind !== "map" && !isRequiredInside(field);
  const isNeeded = field.fieldKind !== "map" && !isOptional && pattern === plainTextRule.pattern;
  return {
    type: "string",
    ...stated({
      minLength: isNeeded ? 1 : undefined,
      maxLength: Number.isFinite(maxLength) ? maxLength : undefined,
      pattern: pattern !== undefined && isOptional && !new RegExp(pattern, "u").test("") ? `^$|${pattern}` : pattern,
    }),
  };
}

/** Returns the members with a value. */
function stated(members: Readonly<Record<string, number | string | undefined>>): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as JsonObject;
}

/** Keys are always texts in JSON. */
function keySchema(type: ScalarType): JsonObject {
  if (type === ScalarType.STRING) return {};
  if (type === ScalarType.BOOL) return { propertyNames: { enum: ["true", "false"] } };
  return { propertyNames: { pattern: integerText } };
}

function isInput(use: JsonUse): boolean {
  return use === "request" || use === "update";
}

/** Returns the schema of a message with a special JSON form; undefined for other messages. */
function wellKnownSchema(schema: DescMessage): JsonObject | undefined {
  if (!hasCustomJsonRepresentation(schema)) return undefined;
  if (isWrapperDesc(schema)) return scalarSchema(schema.fields[0].scalar);
  switch (schema.typeName) {
    case "google.protobuf.Timestamp":
      return { type: "string", format: "date-time" };
    case "google.protobuf.Duration":
      return { type: "string", pattern: durationText.source };
    case "google.protobuf.FieldMask":
      return { type: "string" };
    case "google.protobuf.ListValue":
      return { type: "array" };
    case "google.protobuf.Value":
      return {};
    default:
      return { type: "object" };
  }
}

function scalarSchema(type: ScalarType): JsonObject {
  switch (type) {
    case ScalarType.BOOL:
      return { type: "boolean" };
    case ScalarType.STRING:
      return { type: "string" };
    case ScalarType.BYTES:
      return { type: "string", contentEncoding: "base64" };
    case ScalarType.FLOAT:
    case ScalarType.DOUBLE:
      return { anyOf: [{ type: "number" }, { enum: ["NaN", "Infinity", "-Infinity"] }] };
    case ScalarType.INT64:
    case ScalarType.SINT64:
    case ScalarType.SFIXED64:
      return { type: "string", pattern: integerText, format: "int64" };
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return { type: "string", pattern: "^[0-9]+$" };
    case ScalarType.UINT32:
    case ScalarType.FIXED32:
      return { type: "integer", minimum: 0, maximum: 2 ** 32 - 1 };
    default:
      return { type: "integer", format: "int32", minimum: -(2 ** 31), maximum: 2 ** 31 - 1 };
  }
}
