// Single values as JSON has them: https://protobuf.dev/programming-guides/json/
import { type DescEnum, ScalarType } from "@bufbuild/protobuf";

/** Makes one value of a field into one for JSON. */
export type ValueConverter = (value: unknown) => unknown;

/** The converter of a scalar type, for values as protobuf messages hold them; undefined where JSON has them as they are. */
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

/** The converter of an enum: to names, and numbers where there is no name. */
export function enumConverter(schema: DescEnum): ValueConverter {
  if (schema.typeName === "google.protobuf.NullValue") return () => null;
  const names = new Map(schema.values.map((value) => [value.number, value.name]));
  return (value) => names.get(value as number) ?? value;
}
