// Encodes messages as JSON, by a converter per message type that is compiled from its descriptor. Converters make plain objects:
// JSON.stringify makes text faster than JavaScript can.
import { type DescField, type DescMessage, type Message, type Registry, ScalarType } from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence, isWrapperDesc } from "@bufbuild/protobuf/wkt";
import { compileLiteral } from "../../base/compile.ts";
import { enumConverter, scalarConverter, type ValueConverter } from "./encode-scalars.ts";
import { wellKnownConverter } from "./encode-well-known.ts";
import { newTextWriters, type TextWriter } from "./serializer.ts";

/** Converts a message of one type to a value for JSON.stringify, which omits undefined members. */
export type JsonConverter = (message: Message) => unknown;

/** Makes converters, one per message type. */
export interface JsonConverters {
  /** Returns the converter of a message type, made on first use. */
  converter(schema: DescMessage): JsonConverter;
  /** Returns the writer of a message type, made on first use. */
  writer(schema: DescMessage): TextWriter;
}

/** The options for encoding values. */
export interface JsonOptions {
  /** The messages that an Any may contain; converting any other throws. */
  readonly registry: Registry;
  /**
   * Whether plain fields with false, 0, `{}` or `[]` are written. Empty strings and bytes, unspecified enums, unset messages, and unset
   * members of a oneof or with `optional` are always omitted.
   */
  readonly zeroValues: boolean;
  /** Appended to every text; nothing when absent. */
  readonly end?: string;
}

type Fields = Readonly<Record<string, unknown>>;

/** Converts a field for JSON; undefined if the member is omitted. */
type MemberConverter = (value: unknown, fields: Fields) => unknown;

/** Makes converters to proto3 JSON, except that timestamps have three fraction digits and `zeroValues` applies. */
export function newJsonConverters(options: JsonOptions): JsonConverters {
  const made = new Map<DescMessage, JsonConverter>();
  const converter = (schema: DescMessage): JsonConverter => {
    const known = made.get(schema);
    if (known) return known;
    let convert: JsonConverter;
    // Set before its members are compiled: a message type may contain itself.
    made.set(schema, (message) => convert(message));
    convert = wellKnownConverter(schema, options.registry, converter) ?? membersConverter(schema);
    made.set(schema, convert);
    return convert;
  };
  const membersConverter = (schema: DescMessage): JsonConverter =>
    compileLiteral(
      byNumber(schema).map((field) => ({
        name: field.jsonName,
        from: field.oneof?.localName ?? field.localName,
        convert: memberConverter(field, converter, options.zeroValues),
      })),
    );
  return { converter, writer: newTextWriters((schema, message) => converter(schema)(message), options.end) };
}

function byNumber(schema: DescMessage): DescField[] {
  return [...schema.fields].sort((a, b) => a.number - b.number);
}

function memberConverter(
  field: DescField,
  converters: JsonConverters["converter"],
  zeroValues: boolean,
): MemberConverter | undefined {
  const { localName } = field;
  const convert = valueConverter(field, converters);
  if (field.fieldKind === "list") return listConverter(convert, zeroValues);
  if (field.fieldKind === "map") return mapConverter(convert, zeroValues);
  if (field.oneof) return oneofConverter(localName, convert);
  if (zeroValues && isAlwaysWritten(field)) return convert;
  const isOmitted = omission(field);
  return (value, fields) => {
    if (isOmitted(value, fields)) return undefined;
    return convert ? convert(value) : value;
  };
}

/** Whether JSON with zero values always contains the field. */
export function isAlwaysWritten(field: DescField): boolean {
  if (field.fieldKind === "list" || field.fieldKind === "map") return true;
  if (field.fieldKind !== "scalar" || field.presence !== FeatureSet_FieldPresence.IMPLICIT) return false;
  return field.scalar !== ScalarType.STRING && field.scalar !== ScalarType.BYTES;
}

/** Makes the test whether a singular field is omitted. */
function omission(field: DescField): (value: unknown, fields: Fields) => boolean {
  const { localName } = field;
  if (field.presence !== FeatureSet_FieldPresence.IMPLICIT) {
    // Default values of proto2 are inherited from a prototype.
    return (value, fields) => value === undefined || !Object.hasOwn(fields, localName);
  }
  if (field.fieldKind === "enum") return (value) => value === 0;
  if (field.scalar === ScalarType.STRING) return (value) => value === "";
  if (field.scalar === ScalarType.BYTES) return (value) => (value as Uint8Array).length === 0;
  return isZero;
}

function isZero(value: unknown): boolean {
  // -0 differs from 0, although JSON shows both as 0.
  return value === false || Object.is(value, 0) || value === 0n || value === "0";
}

function oneofConverter(localName: string, convert: ValueConverter | undefined): MemberConverter {
  return (group) => {
    const member = group as { readonly case: string | undefined; readonly value?: unknown };
    if (member.case !== localName) return undefined;
    return convert ? convert(member.value) : member.value;
  };
}

function listConverter(convert: ValueConverter | undefined, zeroValues: boolean): MemberConverter {
  return (list) => {
    const items = list as readonly unknown[];
    if (items.length === 0) return zeroValues ? items : undefined;
    return convert ? items.map((item) => convert(item)) : items;
  };
}

function mapConverter(convert: ValueConverter | undefined, zeroValues: boolean): MemberConverter {
  return (map) => {
    if (!convert && zeroValues) return map;
    const entries = Object.entries(map as Fields);
    if (entries.length === 0 && !zeroValues) return undefined;
    return convert ? Object.fromEntries(entries.map(([key, item]) => [key, convert(item)])) : map;
  };
}

/** Returns undefined if JSON needs no conversion. */
function valueConverter(field: DescField, converters: JsonConverters["converter"]): ValueConverter | undefined {
  if (field.message) return messageConverter(field, field.message, converters);
  if (field.enum) return enumConverter(field.enum);
  return scalarConverter(field.scalar);
}

function messageConverter(
  field: DescField,
  schema: DescMessage,
  converters: JsonConverters["converter"],
): ValueConverter | undefined {
  // protobuf-es keeps a Struct in a field as plain JSON, and the wrapped value instead of a wrapper in a singular one.
  if (schema.typeName === "google.protobuf.Struct") return undefined;
  if (isWrapperDesc(schema) && field.fieldKind === "message" && !field.oneof)
    return scalarConverter(schema.fields[0].scalar);
  return converters(schema) as ValueConverter;
}
