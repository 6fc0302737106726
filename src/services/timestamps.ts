import type { Timestamp } from "@bufbuild/protobuf/wkt";

/** A stored time, which is in milliseconds since the epoch, as a message. */
export function toTimestamp(milliseconds: number): Timestamp {
  const seconds = Math.floor(milliseconds / 1000);
  const nanos = (milliseconds - seconds * 1000) * 1_000_000;
  return { $typeName: "google.protobuf.Timestamp", seconds: BigInt(seconds), nanos };
}

/** A message as a stored time; what is finer than a millisecond is dropped. */
export function fromTimestamp(timestamp: Timestamp): number {
  return Number(timestamp.seconds) * 1000 + Math.floor(timestamp.nanos / 1_000_000);
}
