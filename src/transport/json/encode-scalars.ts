// Encodes scalars and enums: https://protobuf.dev/programming-guides/json/
import { type DescEnum, ScalarType } from "@bufbuild/protobuf";

/** Converts a value of a field for JSON. */
export type ValueConverter = (value: unknown) => unknown;

/** Returns the converter of a scalar type; undefined if JSON needs no conversion. */
export function scalarConverter(type: ScalarType): ValueConverter | undefined {
  switch (type) {
    case ScalarType.BYTES:
      return (value) => Buffer.from(value as Uint8Array).toString("base64");
    case ScalarType.FLOAT:
    case ScalarType.DOUBLE:
      return (value) => (Number.isFinite(value) ? value : String(value));
    case ScalarType.INT64:
    case ScalarType.SINT64:
    case ScalarType.SFIXED64:
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return String;
    default:
      return undefined;
  }
}

/** Returns the converter of an enum: to names, or to numbers without a name. */
export function enumConverter(schema: DescEnum): ValueConverter {
  if (schema.typeName === "google.protobuf.NullValue") return () => null;
  const names = new Map(schema.values.map((value) => [value.number, value.name]));
  return (value) => names.get(value as number) ?? value;
}
