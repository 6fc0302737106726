// How much there is to decode in a message, before it is decoded. An empty part takes two bytes on the wire, but a hundred
// times as many in memory, and a third of a microsecond.
import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";

/** Messages in one another that are looked into; the decoder refuses what is nested deeper. */
const maxDepth = 100;

/**
 * Whether a message of this type holds more values than so many, those of its parts included. Throws when the bytes are no
 * message. Packed numbers count as many as they may be.
 */
export function holdsMoreValues(schema: DescMessage, bytes: Uint8Array, most: number): boolean {
  // No value takes less than a tag and a byte.
  return bytes.length > 2 * most && countValues(schema, bytes, most) > most;
}

/** The fields of a message by their numbers: made once, since there may be as many messages as there may be values. */
const fieldsByNumber = new Map<DescMessage, ReadonlyMap<number, DescField>>();

function fieldsOf(schema: DescMessage): ReadonlyMap<number, DescField> {
  let fields = fieldsByNumber.get(schema);
  if (!fields) {
    fields = new Map(schema.fields.map((field) => [field.number, field]));
    fieldsByNumber.set(schema, fields);
  }
  return fields;
}

/** The values in a message, those of its parts included. Stops counting beyond `most`. */
export function countValues(schema: DescMessage, bytes: Uint8Array, most: number, depth = 0): number {
  const fields = fieldsOf(schema);
  const reader = new BinaryReader(bytes);
  let count = 0;
  while (reader.pos < reader.len && count <= most) {
    const [number, type] = reader.tag();
    count++;
    if (type !== WireType.LengthDelimited) reader.skip(type, number);
    else count += valuesIn(fields.get(number), reader.bytes(), most - count, depth);
  }
  return count;
}

/** The values in a part that says how long it is. */
function valuesIn(field: DescField | undefined, part: Uint8Array, most: number, depth: number): number {
  if (field?.message && field.fieldKind !== "map" && depth < maxDepth)
    return countValues(field.message, part, most, depth + 1);
  return field?.fieldKind === "list" && isNumber(field) ? part.length : 0;
}

/** Several numbers may come as one part, texts and bytes never. */
function isNumber({ listKind, scalar }: DescField & { fieldKind: "list" }): boolean {
  return listKind === "enum" || (listKind === "scalar" && scalar !== ScalarType.STRING && scalar !== ScalarType.BYTES);
}
