// The time that a question about access is about.
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { invalidField } from "../../aip/errors.ts";
import { fromTimestamp } from "../../aip/timestamps.ts";
import type { Session } from "../../storage/engine/session.ts";

/** How much earlier than now a time may be, in milliseconds: clients have clocks of their own. */
const maxAgoMs = 60_000;

/** Returns the time of a question, or now. Throws INVALID_ARGUMENT for the past, of which only the audit log knows. */
export function askedTime({ termTime }: Pick<Session, "termTime">, time: Timestamp | undefined): number {
  const now = termTime();
  if (!time) return now;
  const asked = fromTimestamp(time);
  if (asked < now - maxAgoMs) throw invalidField("time", "must not be in the past");
  return Math.max(asked, now);
}
