// Decodes protobuf scalars from text (paths, queries) and from JSON values.
import { type DescEnum, type DescField, type JsonValue, ScalarType } from "@bufbuild/protobuf";
import { clip } from "../../base/clip.ts";
import { ValueError } from "./value-error.ts";

/** A value as reflection accepts it. */
export type ScalarValue = string | number | bigint | boolean | Uint8Array;

interface IntegerRange {
  readonly name: string;
  readonly min: bigint;
  readonly max: bigint;
  /** Whether values are bigints rather than numbers. */
  readonly wide: boolean;
}

const int32: IntegerRange = { name: "int32", min: -(2n ** 31n), max: 2n ** 31n - 1n, wide: false };
const uint32: IntegerRange = { name: "uint32", min: 0n, max: 2n ** 32n - 1n, wide: false };
const int64: IntegerRange = { name: "int64", min: -(2n ** 63n), max: 2n ** 63n - 1n, wide: true };
const uint64: IntegerRange = { name: "uint64", min: 0n, max: 2n ** 64n - 1n, wide: true };

const integers: Partial<Record<ScalarType, IntegerRange>> = {
  [ScalarType.INT32]: int32,
  [ScalarType.SINT32]: int32,
  [ScalarType.SFIXED32]: int32,
  [ScalarType.UINT32]: uint32,
  [ScalarType.FIXED32]: uint32,
  [ScalarType.INT64]: int64,
  [ScalarType.SINT64]: int64,
  [ScalarType.SFIXED64]: int64,
  [ScalarType.UINT64]: uint64,
  [ScalarType.FIXED64]: uint64,
};

const booleans: ReadonlyMap<string, boolean> = new Map([
  ["true", true],
  ["t", true],
  ["1", true],
  ["false", false],
  ["f", false],
  ["0", false],
]);

const unusualNumbers: ReadonlyMap<string, number> = new Map([
  ["NaN", Number.NaN],
  ["Infinity", Number.POSITIVE_INFINITY],
  ["-Infinity", Number.NEGATIVE_INFINITY],
]);

/** Longer texts are out of range in any case. */
const maxIntegerLength = 40;

const maxFloat = 3.4028234663852886e38;

/** Parses a scalar. Throws a ValueError. */
export function scalarFromText(type: ScalarType, text: string): ScalarValue {
  const range = integers[type];
  if (range) return integerFromText(range, text);
  switch (type) {
    case ScalarType.BOOL:
      return booleans.get(text) ?? mismatch("must be true or false");
    case ScalarType.BYTES:
      return bytesFromText(text);
    case ScalarType.FLOAT:
    case ScalarType.DOUBLE:
      return numberFromText(type, text);
    default:
      // Protobuf strings are UTF-8, which cannot encode an unpaired surrogate.
      return text.isWellFormed() ? text : mismatch("must be well-formed Unicode");
  }
}

/** Decodes a scalar from a JSON value. Throws a ValueError. */
export function scalarFromJson(type: ScalarType, json: JsonValue): ScalarValue {
  if (type === ScalarType.BOOL) return typeof json === "boolean" ? json : mismatch("must be true or false");
  if (type === ScalarType.STRING || type === ScalarType.BYTES) {
    return typeof json === "string" ? scalarFromText(type, json) : mismatch("must be a string");
  }
  const range = integers[type];
  if (typeof json === "string") return range ? integerFromQuoted(range, json) : scalarFromText(type, json);
  if (typeof json !== "number") return mismatch("must be a number");
  return range ? integerFromNumber(range, json) : checkNumber(type, json);
}

/** Parses the name or number of an enum value. Throws a ValueError. */
export function enumFromText(schema: DescEnum, text: string): number {
  const value = schema.values.find((candidate) => candidate.name === text);
  if (value) return value.number;
  return /^-?\d{1,10}$/.test(text) ? enumFromNumber(schema, Number(text)) : unknownEnumValue(schema, text);
}

/** Decodes an enum value from a JSON string or number. Throws a ValueError. */
export function enumFromJson(schema: DescEnum, json: JsonValue): number {
  if (typeof json === "string") return enumFromText(schema, json);
  return typeof json === "number" ? enumFromNumber(schema, json) : mismatch("must be the name of an enum value");
}

/** Converts a scalar for reflection: 64-bit integers are strings if the proto says so. */
export function toFieldScalar(field: DescField, value: ScalarValue): ScalarValue {
  return "longAsString" in field && field.longAsString && typeof value === "bigint" ? value.toString() : value;
}

function integerFromText(range: IntegerRange, text: string): number | bigint {
  if (!/^-?\d+$/.test(text)) return mismatch(`must be an ${range.name}`);
  // Converting a very long text to a bigint takes quadratic time.
  return inRange(range, text.length <= maxIntegerLength ? BigInt(text) : range.max + 1n);
}

/** Protobuf JSON allows a fraction and an exponent in quoted integers, if the value is an integer. */
function integerFromQuoted(range: IntegerRange, text: string): number | bigint {
  const parts = text.length <= maxIntegerLength && /^(-?\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text);
  if (!parts) return integerFromText(range, text);
  const [, whole = "", fraction = "", exponent = "0"] = parts;
  const digits = (whole + fraction).replace(/0+$/, "");
  if (!/[1-9]/.test(digits)) return inRange(range, 0n);
  const zeros = whole.length - digits.length + Number(exponent);
  if (zeros < 0) return mismatch(`must be an ${range.name}`);
  return inRange(range, zeros <= maxIntegerLength ? BigInt(digits + "0".repeat(zeros)) : range.max + 1n);
}

function integerFromNumber(range: IntegerRange, number: number): number | bigint {
  if (!Number.isInteger(number)) return mismatch(`must be an ${range.name}`);
  if (range.wide && !Number.isSafeInteger(number))
    return mismatch("is too large for a JSON number; send it as a string");
  return inRange(range, BigInt(number));
}

function inRange(range: IntegerRange, value: bigint): number | bigint {
  if (value < range.min || value > range.max) return mismatch(`is out of range for ${range.name}`);
  return range.wide ? value : Number(value);
}

function numberFromText(type: ScalarType, text: string): number {
  const unusual = unusualNumbers.get(text);
  if (unusual !== undefined) return unusual;
  if (!/^-?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(text)) return mismatch("must be a number");
  return checkNumber(type, Number(text));
}

function checkNumber(type: ScalarType, number: number): number {
  const max = type === ScalarType.FLOAT ? maxFloat : Number.MAX_VALUE;
  return Math.abs(number) <= max ? number : mismatch("is out of range");
}

function bytesFromText(text: string): Uint8Array {
  const digits = text.replace(/={0,2}$/, "");
  if (!/^[A-Za-z0-9+/_-]*$/.test(digits) || digits.length % 4 === 1) return mismatch("must be base64");
  return new Uint8Array(Buffer.from(digits, "base64"));
}

/** Enums are open: the pipeline checks numbers without a name, for all transports. */
function enumFromNumber(schema: DescEnum, number: number): number {
  return number === (number | 0) ? number : unknownEnumValue(schema, String(number));
}

function unknownEnumValue(schema: DescEnum, text: string): never {
  return mismatch(`"${clip(text)}" is not a value of ${schema.typeName}`);
}

function mismatch(problem: string): never {
  throw new ValueError(problem);
}
