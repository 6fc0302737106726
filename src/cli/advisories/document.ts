// What is read from files of others: JSON or YAML that may hold anything.
import { findUtcTime } from "../../aip/timestamps.ts";
import { isJsonObject, type JsonObject } from "../../json.ts";

/** A document, or one advisory in it, that is not what its format says. The message is a part of a sentence. */
export class BadDocument extends Error {
  override readonly name = "BadDocument";
}

/** The value as an object; throws otherwise. */
export function members(value: unknown, what: string): JsonObject {
  if (!isJsonObject(value)) throw new BadDocument(`${what} must be an object`);
  return value;
}

/** The value as a list, empty when it is absent; throws otherwise. */
export function list(value: unknown, what: string): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new BadDocument(`${what} must be a list`);
  return value;
}

/** The value as a text, empty when it is absent; throws otherwise. */
export function text(value: unknown, what: string): string {
  if (value === undefined || value === null) return "";
  if (typeof value !== "string") throw new BadDocument(`${what} must be a text`);
  return value;
}

/** The value as a text; throws when there is none. */
export function requiredText(value: unknown, what: string): string {
  const found = text(value, what);
  if (found === "") throw new BadDocument(`${what} is missing`);
  return found;
}

/** The value as a list of texts. */
export function texts(value: unknown, what: string): string[] {
  return list(value, what).map((item) => text(item, `an item of ${what}`));
}

// RFC 3339 §5.6, with a space for the T, as YAML writes it.
const timePattern = /^(\d{4}-\d\d-\d\d)(?:[Tt ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)([Zz]|[+-]\d\d:?\d\d)?)?$/;

/** The value as a time in milliseconds since the epoch, undefined when it is absent; throws when it is no time. */
export function time(value: unknown, what: string): number | undefined {
  const found = text(value, what);
  if (found === "") return undefined;
  const [, day = "", clock = "00:00", zone = "Z"] = timePattern.exec(found) ?? [];
  const exists = findUtcTime(day, clock.slice(0, "hh:mm:ss".length)) !== undefined;
  // A time without a zone is in UTC, wherever it is read.
  const milliseconds = exists ? Date.parse(`${day}T${clock}${zone.toUpperCase()}`) : Number.NaN;
  if (Number.isNaN(milliseconds) || day.startsWith("0000"))
    throw new BadDocument(`${what} ${JSON.stringify(found.slice(0, 40))} is no time`);
  return milliseconds;
}

/** Whether a value says yes; in YAML it is a text. */
export function isTrue(value: unknown): boolean {
  return value === true || value === "true";
}
