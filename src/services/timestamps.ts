import { create } from "@bufbuild/protobuf";
import { type Timestamp, TimestampSchema } from "@bufbuild/protobuf/wkt";

/** A stored time, which is in milliseconds since the epoch, as a message. */
export function toTimestamp(milliseconds: number): Timestamp {
  const seconds = Math.floor(milliseconds / 1000);
  return create(TimestampSchema, { seconds: BigInt(seconds), nanos: (milliseconds - seconds * 1000) * 1_000_000 });
}

/** A message as a stored time; what is finer than a millisecond is dropped. */
export function fromTimestamp(timestamp: Timestamp): number {
  return Number(timestamp.seconds) * 1000 + Math.floor(timestamp.nanos / 1_000_000);
}
