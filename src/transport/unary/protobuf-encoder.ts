// Encodes messages as protobuf, by a writer per message type that is compiled from its descriptor. The library writes the same bytes, but
// allocates memory for every message, which takes longer than the encoding.
import { type DescField, type DescMessage, type Message, ScalarType, toBinary } from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence, isWrapperDesc } from "@bufbuild/protobuf/wkt";
import { compileSteps, type Step } from "../../base/compile.ts";
import { memoizeFrozen } from "../../base/memoize-frozen.ts";
import { ByteBuffer } from "./byte-buffer.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Writes a field with its tag. */
type FieldWriter = (sink: ByteBuffer, value: never, fields: Fields) => void;

/** Writes all fields of a message. */
interface MessageWriter {
  write(sink: ByteBuffer, message: Message): void;
  /** Returns the bytes of a message; memoized if it is frozen. */
  readonly bytesOf: (message: Message) => Uint8Array;
}

/** Writes a value of one type without a tag. */
type ValueWriter = (sink: ByteBuffer, value: never) => void;

/** Writers of scalar types. The library encodes messages with other types. */
const scalars: Partial<Record<ScalarType, { readonly wireType: number; readonly write: ValueWriter }>> = {
  [ScalarType.STRING]: { wireType: 2, write: (sink, value) => sink.text(value) },
  [ScalarType.BYTES]: { wireType: 2, write: (sink, value) => sink.bytes(value) },
  [ScalarType.BOOL]: { wireType: 0, write: (sink, value) => sink.varint(value ? 1 : 0) },
  [ScalarType.INT32]: { wireType: 0, write: (sink, value) => sink.int32(value) },
  [ScalarType.UINT32]: { wireType: 0, write: (sink, value) => sink.uint32(value) },
  [ScalarType.INT64]: { wireType: 0, write: (sink, value) => sink.int64(value) },
};
const lengthDelimited = 2;

/** Writers by message type, made on first use; null if the library has to encode the type. */
const writers = new Map<DescMessage, MessageWriter | null>();
const sink = new ByteBuffer();

/** Encodes a message into a new buffer, with `before` free bytes in front and `after` behind. Throws if it has another type. */
export function writeBinary(schema: DescMessage, message: Message, before = 0, after?: Uint8Array): Buffer {
  const writer = writerOf(schema);
  sink.start(before);
  if (!writer) sink.raw(toBinary(schema, message));
  else if (Object.isFrozen(message)) sink.raw(writer.bytesOf(message));
  else writeFields(sink, schema, writer, message);
  if (after) sink.raw(after);
  return sink.finish();
}

function writerOf(schema: DescMessage): MessageWriter | null {
  const known = writers.get(schema);
  if (known !== undefined) return known;
  if (!isPlain(schema, new Set())) {
    writers.set(schema, null);
    return null;
  }
  const writer: MessageWriter = {
    write: () => {},
    bytesOf: memoizeFrozen((message) => ownBytes((to) => writeFields(to, schema, writer, message))),
  };
  // Set before its fields are compiled: a message type may contain itself.
  writers.set(schema, writer);
  writer.write = compileSteps(schema.fields.toSorted((a, b) => a.number - b.number).map(stepOf));
  return writer;
}

/** Whether this encoder supports all fields of a message type. */
function isPlain(schema: DescMessage, seen: Set<DescMessage>): boolean {
  if (seen.has(schema)) return true;
  seen.add(schema);
  return schema.fields.every((field) => {
    if (field.presence === FeatureSet_FieldPresence.LEGACY_REQUIRED) return false;
    if (field.fieldKind === "map" && field.mapKey !== ScalarType.STRING) return false;
    if (!field.message) return field.enum !== undefined || scalars[field.scalar as ScalarType] !== undefined;
    const isDelimited = "delimitedEncoding" in field && field.delimitedEncoding;
    return !isDelimited && !isConverted(field.message) && isPlain(field.message, seen);
  });
}

/** protobuf-es keeps a Struct in a field as plain JSON, and the wrapped value instead of a wrapper. */
function isConverted(schema: DescMessage): boolean {
  return schema.typeName === "google.protobuf.Struct" || isWrapperDesc(schema);
}

function writeFields(to: ByteBuffer, schema: DescMessage, writer: MessageWriter, message: Message): void {
  if (message.$typeName !== schema.typeName) throw new Error(`${message.$typeName} is not ${schema.typeName}`);
  writer.write(to, message);
  if (message.$unknown === undefined) return;
  for (const { no, wireType, data } of message.$unknown) {
    to.varint(tagOf(no, wireType));
    to.raw(data);
  }
}

/** Returns what is written in a buffer of its own: a slice would keep the whole pool in memory. */
function ownBytes(write: (to: ByteBuffer) => void): Uint8Array {
  const own = new ByteBuffer();
  own.start(0);
  write(own);
  return new Uint8Array(own.finish());
}

function stepOf(field: DescField): Step<ByteBuffer> {
  return { from: field.oneof?.localName ?? field.localName, act: fieldWriter(field) };
}

function fieldWriter(field: DescField): FieldWriter {
  if (field.fieldKind === "list") return listWriter(field);
  if (field.fieldKind === "map") return mapWriter(field);
  const { wireType, write } = valueWriter(field);
  const tag = tagOf(field.number, wireType);
  const { localName } = field;
  if (field.oneof) {
    return (to, member: { readonly case: string | undefined; readonly value?: never }) => {
      if (member.case !== localName) return;
      to.varint(tag);
      write(to, member.value as never);
    };
  }
  const isOmitted = omission(field);
  return (to, value, fields) => {
    if (isOmitted(value, fields)) return;
    to.varint(tag);
    write(to, value);
  };
}

/** Makes the test whether a singular field is omitted. */
function omission(field: DescField): (value: unknown, fields: Fields) => boolean {
  const { localName } = field;
  if (field.presence !== FeatureSet_FieldPresence.IMPLICIT) {
    // Default values of proto2 are inherited from a prototype.
    return (value, fields) => value === undefined || !Object.hasOwn(fields, localName);
  }
  if (field.enum) {
    const zero = field.enum.values[0]!.number;
    return (value) => value === zero;
  }
  if (field.scalar === ScalarType.BYTES) return (value) => (value as Uint8Array).length === 0;
  if (field.scalar === ScalarType.STRING) return (value) => value === "";
  if (field.scalar === ScalarType.BOOL) return (value) => value === false;
  // A number, a bigint, or a bigint as a string.
  return (value) => Number(value) === 0;
}

function listWriter(field: DescField & { fieldKind: "list" }): FieldWriter {
  const { wireType, write } = valueWriter(field);
  const tag = tagOf(field.number, field.packed ? lengthDelimited : wireType);
  if (!field.packed) {
    const writeAll = (to: ByteBuffer, items: readonly never[]) => {
      for (const item of items) {
        to.varint(tag);
        write(to, item);
      }
    };
    const bytesOf = memoizeFrozen((items: readonly never[]) => ownBytes((to) => writeAll(to, items)));
    return (to, items: readonly never[]) => {
      if (Object.isFrozen(items)) to.raw(bytesOf(items));
      else writeAll(to, items);
    };
  }
  return (to, items: readonly never[]) => {
    if (items.length === 0) return;
    to.varint(tag);
    const start = to.open();
    for (const item of items) write(to, item);
    to.close(start);
  };
}

function mapWriter(field: DescField & { fieldKind: "map" }): FieldWriter {
  const { wireType, write } = valueWriter(field);
  const tag = tagOf(field.number, lengthDelimited);
  const [keyTag, valueTag] = [tagOf(1, lengthDelimited), tagOf(2, wireType)];
  return (to, record: Readonly<Record<string, never>>) => {
    for (const key of Object.keys(record)) {
      to.varint(tag);
      const start = to.open();
      to.varint(keyTag);
      to.text(key);
      to.varint(valueTag);
      write(to, record[key]!);
      to.close(start);
    }
  };
}

function valueWriter(field: DescField): { readonly wireType: number; readonly write: ValueWriter } {
  const schema = field.message;
  if (!schema) return scalars[field.enum ? ScalarType.INT32 : (field.scalar as ScalarType)]!;
  const writer = writerOf(schema)!;
  return {
    wireType: lengthDelimited,
    write(to, value) {
      const start = to.open();
      writeFields(to, schema, writer, value);
      to.close(start);
    },
  };
}

function tagOf(number: number, wireType: number): number {
  return number * 8 + wireType;
}
