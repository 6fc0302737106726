// Times of documents, which may be older and finer than those of JavaScript.
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { findUtcTime, fromTimestamp, toTimestamp } from "../aip/timestamps.ts";

/** A time, and the text that it was written as. */
export interface ReadTime {
  readonly milliseconds: number;
  readonly timestamp: Timestamp;
  /** The text, where `timeText` would write the time in another way, for example with nanoseconds. Else empty. */
  readonly raw: string;
}

// RFC 3339 §5.6, with a space for the T as YAML writes it, and a day alone.
const timePattern = /^(\d{4}-\d\d-\d\d)(?:[Tt ](\d\d:\d\d)(?::(\d\d)(\.\d+)?)?([Zz]|[+-]\d\d:?\d\d)?)?$/;

/** The times that a Timestamp of protobuf can have. */
const firstTime = Date.parse("0001-01-01T00:00:00Z");
const lastTime = Date.parse("9999-12-31T23:59:59.999Z");

/** Parses a time of RFC 3339; without a zone it is in UTC. Undefined when there is no such time. */
export function parseTime(text: string): ReadTime | undefined {
  const [, day, minute = "00:00", second = "00", fraction = "", zone = "Z"] = timePattern.exec(text) ?? [];
  // RFC 3339 §5.7: 60 is a leap second, which JavaScript does not have.
  const clock = `${minute}:${second === "60" ? "59" : second}`;
  if (day === undefined || findUtcTime(day, clock) === undefined) return undefined;
  const milliseconds = Date.parse(`${day}T${clock}${fraction}${zone.toUpperCase()}`);
  if (!(milliseconds >= firstTime && milliseconds <= lastTime)) return undefined;
  const raw = timeText(milliseconds) === text ? "" : text;
  return { milliseconds, timestamp: toTimestamp(milliseconds), raw };
}

/** Returns a time in milliseconds since the epoch as documents have it, without a fraction of zero. */
export function timeText(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(".000Z", "Z");
}

/** Returns a time of a message as documents have it. */
export function timestampText(timestamp: Timestamp): string {
  return timeText(fromTimestamp(timestamp));
}
