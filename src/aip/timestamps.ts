// The only conversion of times: a second one, which rounds, would have a key in force where this one has it expired.
import type { Timestamp } from "@bufbuild/protobuf/wkt";

/** A time in milliseconds since the epoch, as it is stored, as a message. */
export function toTimestamp(milliseconds: number): Timestamp {
  const seconds = Math.floor(milliseconds / 1000);
  const nanos = (milliseconds - seconds * 1000) * 1_000_000;
  return { $typeName: "google.protobuf.Timestamp", seconds: BigInt(seconds), nanos };
}

/** A message as a time in milliseconds since the epoch; what is finer is dropped, so that nothing lasts longer than was asked. */
export function fromTimestamp(timestamp: Timestamp): number {
  return Number(timestamp.seconds) * 1000 + Math.floor(timestamp.nanos / 1_000_000);
}

/**
 * The time in milliseconds since the epoch of a date such as `2026-01-31` with a time of day such as `12:00:00` or
 * `12:00`, in UTC. Undefined when there is no such day or time of day: Date.parse lets 30 February pass as a day in March.
 */
export function findUtcTime(date: string, timeOfDay: string): number | undefined {
  const time = Date.parse(`${date}T${timeOfDay}Z`);
  if (Number.isNaN(time) || !new Date(time).toISOString().startsWith(`${date}T${timeOfDay}`)) return undefined;
  return time;
}
