// JSON Schema (2020-12) of what json.ts writes and json-reader.ts takes.
import { type DescEnum, type DescField, type DescMessage, type JsonObject, ScalarType } from "@bufbuild/protobuf";
import { hasCustomJsonRepresentation, isWrapperDesc } from "@bufbuild/protobuf/wkt";
import { isInputOnly, isOutputOnly, isRequiredInside } from "../../aip/field-behavior.ts";
import { ruleByName } from "../../pipeline/rule-book.ts";
import { isAlwaysWritten } from "./json.ts";
import { durationText } from "./well-known.ts";

/**
 * What the JSON is for: a reply has all that is always written, the detail of an error no zero values; a request has what is
 * required, and nothing unknown; an update has what it changes, and needs nothing.
 */
export type JsonUse = "reply" | "detail" | "request" | "update";

const integerText = "^-?[0-9]+$";

/** What schemas are made with. */
export interface SchemaContext {
  /** Refers to the schema of a message or an enum that stands elsewhere. */
  refer(desc: DescMessage | DescEnum, use: JsonUse): JsonObject;
  /** What is said of a field; empty when there is nothing to say. */
  describe(field: DescField): string;
}

/** The schema of a message that is no value of its own (`valueSchema`). `isRequired` is for the fields of a request. */
export function messageSchema(
  message: DescMessage,
  use: JsonUse,
  context: SchemaContext,
  isRequired: (field: DescField) => boolean = isRequiredInside,
): JsonObject {
  // What is input only is in no reply.
  const fields = isInput(use) ? message.fields : message.fields.filter((field) => !isInputOnly(field));
  const isNeeded = (field: DescField) =>
    use === "reply" ? isAlwaysWritten(field) : use === "request" && isRequired(field) && !isOutputOnly(field);
  const required = fields.filter(isNeeded).map(({ jsonName }) => jsonName);
  return {
    type: "object",
    properties: Object.fromEntries(fields.map((field) => [field.jsonName, memberSchema(field, use, context)])),
    ...(required.length > 0 && { required }),
    // Clients must bear members of later versions; the server refuses what it does not know.
    ...(isInput(use) && { additionalProperties: false }),
  };
}

/** The schema of a field with whatever it holds. */
export function fieldSchema(field: DescField, use: JsonUse, context: SchemaContext): JsonObject {
  const value = valueSchema(field, use, context);
  if (field.fieldKind === "list") return { type: "array", items: value };
  if (field.fieldKind === "map") return { type: "object", ...keySchema(field.mapKey), additionalProperties: value };
  return value;
}

/** The schema of an enum: its names, as they are written. */
export function enumSchema(schema: DescEnum): JsonObject {
  if (schema.typeName === "google.protobuf.NullValue") return { type: "null" };
  return { type: "string", enum: schema.values.map(({ name }) => name) };
}

function memberSchema(field: DescField, use: JsonUse, context: SchemaContext): JsonObject {
  const description = context.describe(field);
  return {
    ...fieldSchema(field, use, context),
    ...(description !== "" && { description }),
    // A request may have it: it is passed over, so that what was read can be sent back.
    ...(isInput(use) && isOutputOnly(field) && { readOnly: true }),
    ...(isInputOnly(field) && { writeOnly: true }),
    ...(field.deprecated && { deprecated: true }),
  };
}

/** One value of a field, or one item. */
function valueSchema(field: DescField, use: JsonUse, context: SchemaContext): JsonObject {
  if (field.message) return wellKnownSchema(field.message) ?? context.refer(field.message, use);
  if (field.enum) return context.refer(field.enum, use);
  return field.scalar === ScalarType.STRING && isInput(use) ? givenText(field) : scalarSchema(field.scalar);
}

/** What the pipeline lets pass as a text, but for the rules of single fields. */
function givenText(field: DescField): JsonObject {
  const mayBeEmpty = field.fieldKind !== "list" && !isRequiredInside(field);
  const { pattern } = ruleByName(field);
  if (pattern !== undefined) return { type: "string", pattern: mayBeEmpty ? `^$|${pattern}` : pattern };
  return mayBeEmpty ? { type: "string" } : { type: "string", minLength: 1 };
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
