// JSON Schema (2020-12) of what json.ts writes and json-reader.ts takes.
import { type DescEnum, type DescField, type DescMessage, type JsonObject, ScalarType } from "@bufbuild/protobuf";
import { hasCustomJsonRepresentation, isWrapperDesc } from "@bufbuild/protobuf/wkt";
import { isInputOnly, isOutputOnly, isRequiredInside } from "../../../aip/field-behavior.ts";
import { type FieldRules, plainTextRule } from "../../../pipeline/text-rules.ts";
import { durationText } from "./decode-well-known.ts";
import { isAlwaysWritten } from "./encoder.ts";

/**
 * What the JSON is for: a reply has all that is always written, the detail of an error no zero values; a request has what is
 * required, and nothing unknown; an update has what it changes, and needs nothing.
 */
export type JsonUse = "reply" | "detail" | "request" | "update";

const noRules: FieldRules = { text: () => undefined, bounds: () => ({}) };

const integerText = "^-?[0-9]+$";

/** What schemas are made with. */
export interface SchemaContext {
  /** Refers to the schema of a message or an enum that stands elsewhere. */
  refer(desc: DescMessage | DescEnum, use: JsonUse): JsonObject;
  /** What is said of a field; empty when there is nothing to say. */
  describe(field: DescField): string;
  /** What is asked of the fields of requests. */
  readonly rules: FieldRules;
}

/** Whether a request without the field is refused: nothing tells a number, a boolean or an enum that is left out from its zero. */
export function isNeededInside(field: DescField): boolean {
  const hasZero = field.fieldKind === "enum" || (field.fieldKind === "scalar" && field.scalar !== ScalarType.STRING);
  return isRequiredInside(field) && !hasZero;
}

const nothing: ReadonlySet<DescField> = new Set();

/**
 * The schema of a message that is no value of a field (`valueSchema`). The `given` fields of a request stand in its path, and are not
 * looked at here.
 */
export function messageSchema(
  message: DescMessage,
  use: JsonUse,
  context: SchemaContext,
  given: ReadonlySet<DescField> = nothing,
): JsonObject {
  const wellKnown = wellKnownSchema(message);
  if (wellKnown) return wellKnown;
  // What is input only is in no reply.
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
    // Clients must bear members of later versions; the server refuses what it does not know.
    ...(isInput(use) && { additionalProperties: false }),
  };
}

/** The schema of a field with whatever it holds. */
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

/** The schema of an enum: its names, as they are written. */
export function enumSchema(schema: DescEnum): JsonObject {
  if (schema.typeName === "google.protobuf.NullValue") return { type: "null" };
  return { type: "string", enum: schema.values.map(({ name }) => name) };
}

function memberSchema(field: DescField, use: JsonUse, context: SchemaContext, isGiven: boolean): JsonObject {
  const description = context.describe(field);
  // What is output only is not looked at in a request, beyond its type.
  const isIgnored = isInput(use) && isOutputOnly(field);
  return {
    ...(isIgnored || isGiven
      ? fieldSchema(field, "update", { ...context, rules: noRules })
      : fieldSchema(field, use, context)),
    ...(description !== "" && { description }),
    // A request may have it: it is passed over, so that what was read can be sent back.
    ...(isIgnored && { readOnly: true }),
    ...(isInputOnly(field) && { writeOnly: true }),
    ...(field.deprecated && { deprecated: true }),
  };
}

/** One value of a field, or one item. */
function valueSchema(field: DescField, use: JsonUse, context: SchemaContext): JsonObject {
  if (field.message) return wellKnownSchema(field.message) ?? context.refer(field.message, use);
  if (field.enum) return context.refer(field.enum, use);
  return field.scalar === ScalarType.STRING && isInput(use) ? givenText(field, context) : scalarSchema(field.scalar);
}

/** What is let pass as a text. A rule counts UTF-16 units, of which a text has no fewer than the code points of JSON Schema. */
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

/** The members that have a value. */
function stated(members: Readonly<Record<string, number | string | undefined>>): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as JsonObject;
}

/** Keys are texts in JSON, whatever they are. */
function keySchema(type: ScalarType): JsonObject {
  if (type === ScalarType.STRING) return {};
  if (type === ScalarType.BOOL) return { propertyNames: { enum: ["true", "false"] } };
  return { propertyNames: { pattern: integerText } };
}

function isInput(use: JsonUse): boolean {
  return use === "request" || use === "update";
}

/** The schema of a message with a JSON form of its own; undefined for all others. */
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
