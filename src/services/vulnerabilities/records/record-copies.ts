// Decides which of two copies of a record wins. The order of imports matters only if no copy has a time.
import { type AdvisoryRecord, RecordOutcome } from "../../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { fromTimestamp } from "../../../aip/timestamps.ts";
import type { CompleteDocumentRow } from "../../../storage/vulnerabilities/complete-documents.ts";
import type { StoredCopy } from "../../../storage/vulnerabilities/records.ts";

/** The version of a copy or of a document; without a time if the source has none. */
export type Version = Pick<StoredCopy, "modifyTime" | "modifyNanos" | "revision">;

/** The fields of a copy that decide. */
export interface Copy extends Pick<StoredCopy, "digest" | "withdrawTime">, Version {
  /** The digest of the record with its ecosystems as OSV writes them. */
  readonly repairedDigest: string;
}

/** The decision about a copy. */
export interface Decision {
  readonly outcome: RecordOutcome;
  /** The reason why the copy is left out; empty if it is not. */
  readonly error: string;
}

const { CREATED, UPDATED, UNCHANGED, WITHDRAWN, LEFT_OUT } = RecordOutcome;

/** The decision about a copy that changes nothing. */
export const unchanged: Decision = { outcome: UNCHANGED, error: "" };

/**
 * Returns the decision about a copy by the first request that had it, if the request is a repeat: a copy that was stored since `since`
 * was stored by the first one, whose response did not arrive.
 */
export function firstDecision(
  decision: Decision,
  copy: Copy,
  stored: StoredCopy | undefined,
  since: number | undefined,
): Decision {
  const isFirst = since !== undefined && stored?.digest === copy.digest && stored.updateTime >= since;
  if (!isFirst || decision.outcome !== UNCHANGED) return decision;
  return {
    outcome: copy.withdrawTime !== null ? WITHDRAWN : stored.createTime >= since ? CREATED : UPDATED,
    error: "",
  };
}

/** Returns the version of a record message. */
export function versionOf({ modifyTime, revision }: Pick<AdvisoryRecord, "modifyTime" | "revision">): Version {
  const modifyNanos = modifyTime ? modifyTime.nanos % 1_000_000 : 0;
  return { modifyTime: modifyTime ? fromTimestamp(modifyTime) : null, modifyNanos, revision: Number(revision) };
}

/** Decides about a copy by the stored copy and by the version in which its document was completed. */
export function decideCopy(
  copy: Copy,
  stored: Copy | undefined,
  complete: CompleteDocumentRow | undefined,
  now: number,
): Decision {
  if (stored?.digest === copy.digest) return unchanged;
  if (complete && compareVersions(copy, complete, now) < 0) return lost(copy, now);
  const order = stored ? compareVersions(copy, stored, now) : 1;
  if (order < 0) return lost(copy, now);
  if (order === 0 && stored && copy.modifyTime !== null && compareTied(copy, stored) < 0)
    return copy.repairedDigest === stored.repairedDigest ? unchanged : tied;
  const isWithdrawn = copy.withdrawTime !== null && (!stored || stored.withdrawTime === null);
  return { outcome: isWithdrawn ? WITHDRAWN : stored ? UPDATED : CREATED, error: "" };
}

/**
 * Returns a negative number if the first of two copies of one version counts less. Of copies that differ in the spelling of ecosystems
 * alone, the one of OSV counts: earlier versions stored ecosystems as they were written.
 */
function compareTied(a: Copy, b: Copy): number {
  const isOsv = ({ digest, repairedDigest }: Copy) => Number(digest === repairedDigest);
  if (a.repairedDigest !== b.repairedDigest) return a.repairedDigest < b.repairedDigest ? -1 : 1;
  return isOsv(a) - isOsv(b) || (a.digest < b.digest ? -1 : 1);
}

/**
 * Returns a negative number if the first version is older. A time in the future counts as oldest: it would block all correct copies. A
 * version without a time is older than one with a time.
 */
export function compareVersions(a: Version, b: Version, now: number): number {
  const ranks = rankOf(a, now) - rankOf(b, now);
  if (ranks !== 0 || a.modifyTime === null || b.modifyTime === null) return ranks;
  return a.modifyTime - b.modifyTime || a.modifyNanos - b.modifyNanos || a.revision - b.revision;
}

const [future, undated, dated] = [0, 1, 2];

function rankOf({ modifyTime }: Version, now: number): number {
  if (modifyTime === null) return undated!;
  return modifyTime > now ? future! : dated!;
}

/** Returns the decision about a copy that is older than another one or than its completed document. */
function lost(copy: Copy, now: number): Decision {
  if (copy.modifyTime === null) return leftOut("it has no modify_time, and a copy that has one is stored");
  return copy.modifyTime > now ? leftOut("its modify_time is still to come, and another copy is stored") : unchanged;
}

function leftOut(error: string): Decision {
  return { outcome: LEFT_OUT, error };
}

const tied = leftOut(
  "another copy of the same modify_time and revision says something else; the one with the greater digest counts",
);
