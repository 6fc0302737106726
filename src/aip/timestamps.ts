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
