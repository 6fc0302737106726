// The only conversions of times. They round down: a conversion that rounds differently would see a key as valid that
// another one sees as expired.
import type { Timestamp } from "@bufbuild/protobuf/wkt";

/** Converts stored milliseconds since the epoch to a message. */
export function toTimestamp(milliseconds: number): Timestamp {
  const seconds = Math.floor(milliseconds / 1000);
  const nanos = (milliseconds - seconds * 1000) * 1_000_000;
  return { $typeName: "google.protobuf.Timestamp", seconds: BigInt(seconds), nanos };
}

/**
 * Converts a message to milliseconds since the epoch. Finer parts are dropped, so nothing lasts longer than requested.
 */
export function fromTimestamp(timestamp: Timestamp): number {
  return Number(timestamp.seconds) * 1000 + Math.floor(timestamp.nanos / 1_000_000);
}

/**
 * Parses a date such as `2026-01-31` and a time of day such as `12:00:00` or `12:00` as UTC milliseconds since the
 * epoch. Returns undefined if there is no such day or time: Date.parse accepts 30 February as a day in March.
 */
export function findUtcTime(date: string, timeOfDay: string): number | undefined {
  const time = Date.parse(`${date}T${timeOfDay}Z`);
  if (Number.isNaN(time) || !new Date(time).toISOString().startsWith(`${date}T${timeOfDay}`)) return undefined;
  return time;
}
