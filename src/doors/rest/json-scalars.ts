// The JSON text of single values: https://protobuf.dev/programming-guides/json/
import { type DescEnum, ScalarType } from "@bufbuild/protobuf";

/** Writes one value of a field, without its name. */
export type ValueWriter = (value: unknown) => string;

/** The writer of a scalar type, for values as protobuf messages hold them. */
export function scalarWriter(type: ScalarType): ValueWriter {
  switch (type) {
    case ScalarType.STRING:
      return (value) => writeString(value as string);
    case ScalarType.BYTES:
      return (value) => `"${Buffer.from(value as Uint8Array).toString("base64")}"`;
    case ScalarType.BOOL:
      return (value) => (value ? "true" : "false");
    case ScalarType.FLOAT:
    case ScalarType.DOUBLE:
      return (value) => (Number.isFinite(value) ? String(value) : `"${value}"`);
    case ScalarType.INT64:
    case ScalarType.SINT64:
    case ScalarType.SFIXED64:
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return (value) => `"${value}"`;
    default:
      return (value) => String(value);
  }
}

/** The writer of an enum: names, and numbers where there is no name. */
export function enumWriter(schema: DescEnum): ValueWriter {
  if (schema.typeName === "google.protobuf.NullValue") return () => "null";
  const names = new Map(schema.values.map((value) => [value.number, JSON.stringify(value.name)]));
  return (value) => names.get(value as number) ?? String(value);
}

// What JSON must escape, and surrogates, of which a lone half is escaped to keep the text valid UTF-8.
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are the point
const special = /["\\\u0000-\u001f\ud800-\udfff]/;

/** Writes a JSON string. */
export function writeString(text: string): string {
  return special.test(text) ? JSON.stringify(text) : `"${text}"`;
}
