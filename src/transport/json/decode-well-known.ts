// Decodes the messages of google.protobuf: https://protobuf.dev/programming-guides/json/
import { create, type DescMessage, fromJson, type JsonValue, type Message, type Registry } from "@bufbuild/protobuf";
import { DurationSchema, FieldMaskSchema, isWrapperDesc, TimestampSchema } from "@bufbuild/protobuf/wkt";
import { findUtcTime } from "../../aip/timestamps.ts";
import { findFieldPath, formatFieldPath } from "./field-path.ts";
import { ValueError } from "./value-error.ts";

const timestampText = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;
/** A Duration in JSON, in seconds. */
export const durationText = /^(-?)(\d{1,12})(?:\.(\d{1,9}))?s$/;
const goDurationText = /^-?(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+$/;

const minSecond = Date.parse("0001-01-01T00:00:00Z") / 1000;
const maxSecond = Date.parse("9999-12-31T23:59:59Z") / 1000;
// google.protobuf.Duration: the most whole seconds; a fraction may be added.
const maxDurationSeconds = 315_576_000_000n;
const nanosPerSecond = 1_000_000_000n;
const nanosPerUnit: Readonly<Record<string, number>> = {
  ns: 1,
  us: 1e3,
  µs: 1e3,
  μs: 1e3,
  ms: 1e6,
  s: 1e9,
  m: 6e10,
  h: 3.6e12,
};

/** Parses a Timestamp in RFC 3339 with any offset. Throws a ValueError. */
export function timestampFromText(text: string): Message {
  const parts = timestampText.exec(text.toUpperCase());
  if (!parts) throw new ValueError("must be an RFC 3339 time such as 2026-01-31T12:00:00Z");
  const [, date = "", time = "", fraction = "", offset = ""] = parts;
  const local = findUtcTime(date, time);
  if (local === undefined) throw new ValueError("must be a time that exists");
  const seconds = local / 1000 - offsetSeconds(offset);
  if (seconds < minSecond || seconds > maxSecond) throw new ValueError("must lie between the years 1 and 9999");
  return create(TimestampSchema, { seconds: BigInt(seconds), nanos: Number(fraction.padEnd(9, "0")) });
}

/** Parses a Duration in JSON form, such as `3600s` or `-0.5s`. Throws a ValueError. */
function durationFromText(text: string): Message {
  const parts = durationText.exec(text);
  if (!parts) throw new ValueError("must be a duration in seconds such as 3600s");
  const [, sign, seconds = "", fraction = ""] = parts;
  const nanos = BigInt(seconds) * nanosPerSecond + BigInt(fraction.padEnd(9, "0"));
  return durationFromNanos(sign ? -nanos : nanos);
}

/** Parses a Duration of a query: in JSON form, or in Go syntax such as `1h30m`. Throws a ValueError. */
export function durationFromQuery(text: string): Message {
  if (durationText.test(text) || !goDurationText.test(text)) return durationFromText(text);
  let nanos = 0n;
  for (const [, amount, unit] of text.matchAll(/(\d+\.?\d*|\.\d+)([a-zµμ]+)/g)) {
    const part = Number(amount) * nanosPerUnit[unit!]!;
    if (part > Number(maxDurationSeconds * nanosPerSecond))
      throw new ValueError("must not be longer than 10,000 years");
    nanos += BigInt(Math.round(part));
  }
  return durationFromNanos(text.startsWith("-") ? -nanos : nanos);
}

/**
 * Parses a FieldMask: comma-separated paths in snake or camel case, which become proto names.
 *
 * With a `target`, paths are resolved there. Unknown ones stay unchanged, and the error can name them. Without a target every
 * capital letter becomes `_` and its small letter.
 */
export function fieldMaskFromText(text: string, target?: DescMessage): Message {
  const paths = text
    .split(",")
    .map((path) => path.trim())
    .filter((path) => path !== "");
  return create(FieldMaskSchema, {
    paths: paths.map((path) => (target ? toProtoPath(target, path) : toSnakeCase(path))),
  });
}

/** Decodes any message of google.protobuf. Throws a ValueError. The registry must have the content of an Any. */
export function wellKnownFromJson(schema: DescMessage, json: JsonValue, registry: Registry): Message {
  if (schema.typeName === TimestampSchema.typeName) return timestampFromText(asText(json));
  if (schema.typeName === DurationSchema.typeName) return durationFromText(asText(json));
  if (schema.typeName === FieldMaskSchema.typeName) return fieldMaskFromText(asText(json));
  try {
    return fromJson(schema, json, { registry });
  } catch {
    throw new ValueError(`must be ${isWrapperDesc(schema) ? "the value of a" : "a valid"} ${schema.typeName}`);
  }
}

function asText(json: JsonValue): string {
  if (typeof json !== "string") throw new ValueError("must be a string");
  return json;
}

function toProtoPath(target: DescMessage, path: string): string {
  // A mask in JSON has proto names in camel case, even for fields with a JSON name of their own.
  const fields = findFieldPath(target, path) ?? findFieldPath(target, toSnakeCase(path));
  return fields ? formatFieldPath(fields) : path;
}

function toSnakeCase(path: string): string {
  return path.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function offsetSeconds(offset: string): number {
  if (offset === "Z") return 0;
  const seconds = Number(offset.slice(1, 3)) * 3600 + Number(offset.slice(4)) * 60;
  return offset.startsWith("-") ? -seconds : seconds;
}

function durationFromNanos(nanos: bigint): Message {
  const seconds = nanos / nanosPerSecond;
  if (seconds > maxDurationSeconds || seconds < -maxDurationSeconds)
    throw new ValueError("must not be longer than 10,000 years");
  return create(DurationSchema, { seconds, nanos: Number(nanos % nanosPerSecond) });
}
