// Encodes messages once that many streams send.
import { create, type DescMessage, type Message, toBinary } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";

/** The bytes of items with their length before them, by item. */
const encoded = new WeakMap<Message, Uint8Array>();

/**
 * Returns a message with the same bytes, in which the items of lists are already encoded. Unknown fields are written as they are, and a list
 * is a field that comes several times.
 */
export function withEncodedItems(schema: DescMessage, message: Message): Message {
  const fields = message as Message & Record<string, unknown>;
  const result = create(schema) as Message & Record<string, unknown>;
  const unknown: NonNullable<Message["$unknown"]> = [];
  for (const field of schema.fields) {
    const value = fields[field.localName];
    if (field.fieldKind !== "list" || field.listKind !== "message") result[field.localName] = value;
    else
      for (const item of value as readonly Message[])
        unknown.push({ no: field.number, wireType: WireType.LengthDelimited, data: encode(field.message, item) });
  }
  result.$unknown = unknown;
  return result;
}

function encode(schema: DescMessage, item: Message): Uint8Array {
  const known = encoded.get(item);
  if (known) return known;
  const bytes = new BinaryWriter().bytes(toBinary(schema, item)).finish();
  encoded.set(item, bytes);
  return bytes;
}
