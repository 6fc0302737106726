// Decides which of several copies of a record an import sends. The server decides between the sent copy and its stored one. Every copy
// appears in the counts or in the report.
import { type AdvisoryRecord, RecordOutcome } from "../../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { digestOf } from "../../../advisories/digest.ts";
import { identityOf } from "../../../advisories/product.ts";
import type { Place } from "./report.ts";

/** A copy that was sent, with its outcome. */
export interface Copy {
  readonly place: Place;
  readonly digest: string;
  /** The key of its document. */
  readonly document: string;
  /** In seconds and nanoseconds; undefined where the source does not say when it changed the record. */
  readonly modified: Version | undefined;
  readonly isWithdrawn: boolean;
  /** The products that it names. */
  readonly products: ReadonlySet<string>;
  /** Undefined until the server has answered. */
  result: Result | undefined;
  /** Copies that say the same, and whose outcome is that of this one. */
  repeats: Place[];
}

/** The outcome of importing one copy of a record. */
export interface Result {
  readonly outcome: RecordOutcome;
  /** The reason why it was left out. */
  readonly error: string;
}

/** Versions of one document compare by their parts, from the first on. */
export type Version = readonly [seconds: bigint, nanos: number, revision: bigint];

/** The decision about a copy: send it, or skip it for one of three reasons. */
export type Decision =
  | { readonly kind: "send"; readonly after: Copy | undefined }
  /** It says the same as a copy that was sent. */
  | { readonly kind: "repeat"; readonly of: Copy }
  /** A later copy was sent. */
  | { readonly kind: "older" }
  | { readonly kind: "left out"; readonly reason: string };

/** Returns the copy of a record that is about to be sent. */
export function newCopy(record: AdvisoryRecord, place: Place): Copy {
  const { source, document, modifyTime, revision, withdrawTime, statements } = record;
  const products = statements.flatMap(({ product }) => (product ? [identityOf(product)] : []));
  return {
    products: new Set(products),
    document: documentKeyOf(source, document),
    place,
    digest: digestOf(record),
    result: undefined,
    repeats: [],
    isWithdrawn: withdrawTime !== undefined,
    modified: modifyTime && [modifyTime.seconds, modifyTime.nanos, revision],
  };
}

/** Returns the key of a document of a source. */
export function documentKeyOf(source: string, document: string): string {
  return JSON.stringify([source, document]);
}

/**
 * Decides about a copy. `earlier` is the last copy of the same record that was sent; the server has responded to it
 * unless both copies are equal.
 */
export function decide(copy: Copy, earlier: Copy | undefined): Decision {
  if (!earlier) return { kind: "send", after: undefined };
  if (copy.digest === earlier.digest) return { kind: "repeat", of: earlier };
  // The server did not store the earlier copy, so this one has no competitor.
  if (earlier.result?.outcome === RecordOutcome.LEFT_OUT) return { kind: "send", after: undefined };
  if (!copy.modified || !earlier.modified) {
    if (copy.modified) return { kind: "send", after: earlier };
    return { kind: "left out", reason: undatedReason(earlier.place) };
  }
  const order = compare(copy.modified, earlier.modified);
  if (order < 0) {
    const lost = lostProducts(copy, earlier);
    return lost.length === 0 ? { kind: "older" } : { kind: "left out", reason: lossReason(earlier.place, lost) };
  }
  if (order > 0 || copy.digest > earlier.digest) return { kind: "send", after: earlier };
  return { kind: "left out", reason: tieReason(earlier.place) };
}

/** Returns the reason to leave out the later one of two copies without a time. */
function undatedReason(first: Place): string {
  return `says something else than ${nameOf(first)}, and has no time that would tell which one is later`;
}

/** Returns the reason to leave out the other of two copies with one time and revision. */
export function tieReason(winner: Place): string {
  return `says something else than ${nameOf(winner)}, which has the same time; of such copies the one with the greater digest counts`;
}

/**
 * Returns the products of a copy that another one, which replaces it, does not name. A later version of a record may say less; but within
 * one import, two files of one id may as well be two records.
 */
export function lostProducts(loser: Copy, winner: Copy): string[] {
  if (loser.isWithdrawn || winner.isWithdrawn) return [];
  return [...loser.products].filter((product) => !winner.products.has(product));
}

/** Returns the reason to leave out a copy with products that a later one lacks. */
export function lossReason(winner: Place, [product = ""]: readonly string[]): string {
  return `is about ${product.slice(0, 200)}, which the later ${nameOf(winner)} of the same id is not; import one of them with another --author to keep both`;
}

/** Whether two copies have one time and one revision. */
export function isTie(copy: Copy, earlier: Copy): boolean {
  return (
    copy.modified !== undefined && earlier.modified !== undefined && compare(copy.modified, earlier.modified) === 0
  );
}

/**
 * Returns the outcome of a copy that replaces an earlier one of the run. Of two copies of one time, the one that counts takes the place
 * of the other: the counts do not depend on their order.
 */
export function outcomeAfter(earlier: Copy, copy: Copy, answered: RecordOutcome, isDryRun: boolean): RecordOutcome {
  const { CREATED, UPDATED, WITHDRAWN } = RecordOutcome;
  if (!isTaken(answered)) return answered;
  const before = earlier.result?.outcome ?? RecordOutcome.UNSPECIFIED;
  // In a dry run the server does not have the earlier copy.
  const outcome =
    isDryRun && isTaken(before) ? (copy.isWithdrawn && !earlier.isWithdrawn ? WITHDRAWN : UPDATED) : answered;
  if (!isTie(copy, earlier) && lostProducts(earlier, copy).length === 0) {
    // A repeated request does not tell that an earlier copy of the same run was there before.
    return outcome === CREATED && isTaken(before) ? UPDATED : outcome;
  }
  if (before === CREATED && outcome === UPDATED) return CREATED;
  return before === WITHDRAWN && copy.isWithdrawn ? WITHDRAWN : outcome;
}

/** Whether the server has stored a copy, or would. */
export function isTaken(outcome: RecordOutcome): boolean {
  const { CREATED, UPDATED, WITHDRAWN } = RecordOutcome;
  return outcome === CREATED || outcome === UPDATED || outcome === WITHDRAWN;
}

/** Returns a negative number if the first version is older. */
export function compare(a: Version, b: Version): number {
  for (const [i, part] of a.entries()) {
    if (part !== b[i]) return part < b[i]! ? -1 : 1;
  }
  return 0;
}

function nameOf({ file, record }: Place): string {
  return record === "" ? file : `${file}: ${record}`;
}
