// Reads requests to the control API. Unlike the API, it rejects unknown fields: a misspelt one in a test must not be ignored.
import { invalidField } from "../../aip/errors.ts";
import { isJsonObject, type JsonObject } from "../../base/json.ts";
import { notOneOf } from "../../base/similar.ts";
import type { EndpointRequest } from "../../transport/pages/endpoints.ts";

/** Returns the fields of the body, which may have these names only; none for a request without a body. Throws INVALID_ARGUMENT. */
export function readFields({ hasBody, json }: EndpointRequest, names: readonly string[]): JsonObject {
  const body = hasBody ? json() : {};
  if (!isJsonObject(body)) throw invalidField("body", "must be a JSON object");
  for (const name of Object.keys(body)) if (!names.includes(name)) throw invalidField(name, notOneOf(name, names));
  return body;
}

/** Reads one of some texts. */
export function readChoice<T extends string>(value: unknown, field: string, choices: readonly T[]): T {
  if (value === undefined) throw invalidField(field, `is required: one of ${choices.join(", ")}`);
  const found = choices.find((choice) => choice === value);
  if (found !== undefined) return found;
  throw invalidField(field, notOneOf(String(value), choices));
}

/** Reads a text; undefined if it is missing. */
export function readText(value: unknown, field: string): string | undefined {
  if (value === undefined || typeof value === "string") return value;
  throw invalidField(field, "must be a string");
}

/** Reads a whole number from 1 to `most`; undefined if it is missing. */
export function readCount(value: unknown, field: string, most: number): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= most) return value;
  throw invalidField(field, `must be a number from 1 to ${most}`);
}

/** Reads a duration as Protobuf writes it, such as `3600s` or `0.5s`, in milliseconds; undefined if it is missing. */
export function readDuration(value: unknown, field: string, mostMs: number): number | undefined {
  if (value === undefined) return undefined;
  const seconds = typeof value === "string" ? /^(\d{1,12}(?:\.\d{1,9})?)s$/.exec(value)?.[1] : undefined;
  if (seconds === undefined) throw invalidField(field, 'must be a duration in seconds such as "3600s", not negative');
  const ms = Math.round(Number(seconds) * 1000);
  if (ms > mostMs) throw invalidField(field, `must be at most ${durationText(mostMs)}`);
  return ms;
}

/** Writes a duration as Protobuf does. */
export function durationText(ms: number): string {
  return `${ms / 1000}s`;
}
