// Messages into JSON text, by writers that are put together once per message type from its descriptor.
import { type DescField, type DescMessage, type Message, type Registry, ScalarType } from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence, isWrapperDesc } from "@bufbuild/protobuf/wkt";
import { enumWriter, scalarWriter, type ValueWriter } from "./json-scalars.ts";
import { wellKnownWriter } from "./well-known-json.ts";

/** Writes a message of the type that it was made for. */
export type JsonWriter = (message: Message) => string;

/** Makes writers, one per message type. */
export interface JsonWriters {
  /** The writer of a message type, put together when it is first asked for. */
  writer(schema: DescMessage): JsonWriter;
}

/** How values are written. */
export interface JsonWriterOptions {
  /** The messages that an Any may hold; writing any other throws. */
  readonly registry: Registry;
  /**
   * Whether false, 0, `{}` and `[]` are written for plain fields that hold them. Empty strings and bytes, unspecified
   * enums, unset messages and unset members of a oneof or with `optional` are left out in any case.
   */
  readonly zeroValues: boolean;
}

type Fields = Readonly<Record<string, unknown>>;

/** Writes a member, name included; empty when the member is left out. */
type MemberWriter = (fields: Fields) => string;

/** Makes writers for the JSON of proto3, except that timestamps have three digits and zero values follow the options. */
export function newJsonWriters(options: JsonWriterOptions): JsonWriters {
  const made = new Map<DescMessage, JsonWriter>();
  const writer = (schema: DescMessage): JsonWriter => {
    const known = made.get(schema);
    if (known) return known;
    const members: MemberWriter[] = [];
    const wellKnown = wellKnownWriter(schema, options.registry, writer);
    const write = wellKnown ?? ((message: Message) => writeMembers(members, message));
    // Known before its members are made, since a message may hold itself.
    made.set(schema, write);
    if (!wellKnown) for (const field of byNumber(schema)) members.push(memberWriter(field, writer, options.zeroValues));
    return write;
  };
  return { writer };
}

function byNumber(schema: DescMessage): DescField[] {
  return [...schema.fields].sort((a, b) => a.number - b.number);
}

function writeMembers(members: readonly MemberWriter[], message: Message): string {
  const fields = message as unknown as Fields;
  let json = "";
  for (const member of members) {
    const text = member(fields);
    if (text !== "") json += json === "" ? text : `,${text}`;
  }
  return `{${json}}`;
}

function memberWriter(field: DescField, writers: JsonWriters["writer"], zeroValues: boolean): MemberWriter {
  const name = `${JSON.stringify(field.jsonName)}:`;
  const { localName } = field;
  const write = valueWriter(field, writers);
  if (field.fieldKind === "list") return listWriter(localName, name, write, zeroValues);
  if (field.fieldKind === "map") return mapWriter(localName, name, write, zeroValues);
  if (field.oneof) return oneofWriter(field.oneof.localName, localName, name, write);
  const isLeftOut = emptiness(field, zeroValues);
  return (fields) => (isLeftOut(fields) ? "" : name + write(fields[localName]));
}

/** Whether a field is in all JSON of its message that has zero values, whatever it holds. */
export function isAlwaysWritten(field: DescField): boolean {
  if (field.fieldKind === "list" || field.fieldKind === "map") return true;
  if (field.fieldKind !== "scalar" || field.presence !== FeatureSet_FieldPresence.IMPLICIT) return false;
  return field.scalar !== ScalarType.STRING && field.scalar !== ScalarType.BYTES;
}

/** Tells when a singular field is not written. */
function emptiness(field: DescField, zeroValues: boolean): (fields: Fields) => boolean {
  const { localName } = field;
  if (field.presence !== FeatureSet_FieldPresence.IMPLICIT) {
    // Default values of proto2 are inherited from a prototype.
    return (fields) => fields[localName] === undefined || !Object.hasOwn(fields, localName);
  }
  if (field.fieldKind === "enum") return (fields) => fields[localName] === 0;
  if (field.scalar === ScalarType.STRING) return (fields) => fields[localName] === "";
  if (field.scalar === ScalarType.BYTES) return (fields) => (fields[localName] as Uint8Array).length === 0;
  return zeroValues && isAlwaysWritten(field) ? () => false : (fields) => isZero(fields[localName]);
}

function isZero(value: unknown): boolean {
  // -0 is another value than 0, though JSON shows them alike.
  return value === false || Object.is(value, 0) || value === 0n || value === "0";
}

function oneofWriter(group: string, localName: string, name: string, write: ValueWriter): MemberWriter {
  return (fields) => {
    const member = fields[group] as { case: string | undefined; value?: unknown };
    return member.case === localName ? name + write(member.value) : "";
  };
}

function listWriter(localName: string, name: string, write: ValueWriter, zeroValues: boolean): MemberWriter {
  return (fields) => {
    const items = fields[localName] as readonly unknown[];
    if (items.length === 0) return zeroValues ? `${name}[]` : "";
    let json = "";
    for (const item of items) json += json === "" ? write(item) : `,${write(item)}`;
    return `${name}[${json}]`;
  };
}

function mapWriter(localName: string, name: string, write: ValueWriter, zeroValues: boolean): MemberWriter {
  return (fields) => {
    const entries = Object.entries(fields[localName] as Fields);
    if (entries.length === 0 && !zeroValues) return "";
    return `${name}{${entries.map(([key, item]) => `${JSON.stringify(key)}:${write(item)}`).join(",")}}`;
  };
}

function valueWriter(field: DescField, writers: JsonWriters["writer"]): ValueWriter {
  if (field.message) return messageWriter(field, field.message, writers);
  if (field.enum) return enumWriter(field.enum);
  return scalarWriter(field.scalar);
}

function messageWriter(field: DescField, schema: DescMessage, writers: JsonWriters["writer"]): ValueWriter {
  // protobuf-es keeps a Struct in a field as plain JSON, and the wrapped value instead of a wrapper in a singular one.
  if (schema.typeName === "google.protobuf.Struct") return (value) => JSON.stringify(value);
  if (isWrapperDesc(schema) && field.fieldKind === "message" && !field.oneof)
    return scalarWriter(schema.fields[0].scalar);
  const write = writers(schema);
  return (value) => write(value as Message);
}
