// Sends the records of an import to the server, and reports the outcome of each.
import { toBinary } from "@bufbuild/protobuf";
import {
  type AdvisoryRecord,
  AdvisoryRecordSchema,
  AdvisoryRecordsService,
  RecordOutcome,
  type RecordResult,
} from "../../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { keyOf } from "../../../advisories/digest.ts";
import { sizeText } from "../../../advisories/document-text.ts";
import type { CompleteDocument } from "../../../advisories/reading.ts";
import { toTimestamp } from "../../../aip/timestamps.ts";
import { countValues } from "../../../transport/unary/value-count.ts";
import { isTransient } from "../../client/retry.ts";
import type { Session } from "../../client/session.ts";
import {
  type Copy,
  decide,
  isTaken,
  isTie,
  lossReason,
  lostProducts,
  newCopy,
  outcomeAfter,
  tieReason,
} from "./copies.ts";
import { newDocumentVersions } from "./document-versions.ts";
import { newPatience, type Retry } from "./patience.ts";
import { newRecordCalls } from "./record-calls.ts";
import type { Place, Report } from "./report.ts";
import { type Item, maxBatch, openSender } from "./sender.ts";

/** A document whose records are being sent. */
export interface OpenDocument {
  readonly file: string;
  /** Whether all of its records so far were read and taken. */
  isWhole: boolean;
  /** How many of its records replaced earlier versions. */
  replaced: number;
}

/** Writes records, or, in a dry run, finds out the outcome. Each method rejects with the server's error. */
export interface RecordWriter {
  add(record: AdvisoryRecord, place: Place, document: OpenDocument): Promise<void>;
  /** Says that the document has no more records. It is completed once all of them are taken. */
  complete(version: CompleteDocument, document: OpenDocument): void;
  finish(): Promise<void>;
  /** Waits for requests in flight, and sends nothing more. Does not reject. */
  abandon(): Promise<void>;
  /** Whether there was a record of this key. */
  has(key: string): boolean;
  /** Whether a document was completed, which deletes the records that only its earlier versions had. */
  hasCompleted(source: string, document: string): boolean;
  readonly sources: ReadonlySet<string>;
}

/** The options of a record writer. */
export interface WriterOptions {
  /** The uid of the group. */
  readonly group: string;
  readonly dryRun: boolean;
  /** The time to wait for a response, in milliseconds. After a response that did not arrive, the next may take twice as long. */
  readonly timeoutMs: number;
}

interface SentItem extends Item {
  readonly copy: Copy;
  /** The copy of the same run that it replaces. */
  readonly after: Copy | undefined;
  readonly document: OpenDocument;
}

/** Opens a writer. */
export async function openRecordWriter(
  session: Session,
  { group, dryRun, timeoutMs }: WriterOptions,
  report: Report,
  retry: Retry,
): Promise<RecordWriter> {
  const client = await session.client(AdvisoryRecordsService);
  const calls = newRecordCalls(client, { group, dryRun }, newPatience(timeoutMs, retry));
  const copies = new Map<string, Copy>();
  const sources = new Set<string>();
  const documents = newDocumentVersions();
  const sender = openSender<SentItem>(async (items) => {
    const answered = await calls.send(items.map(({ record }) => record)).catch((error: unknown) => {
      if (!dryRun && isTransient(error)) for (const { copy } of items) report.missResponse(copy.place);
      throw error;
    });
    for (const [i, item] of items.entries()) settle(report, item, answered.results[i]!, dryRun);
    return answered.workMs;
  });

  return {
    sources,
    has: (key) => copies.has(key),
    hasCompleted: documents.has,
    async add(record, place, document) {
      sources.add(record.source);
      const { size, values } = sizeOf(record);
      const key = keyOf(record);
      const copy = newCopy(record, place);
      const earlier = copies.get(key);
      if (earlier && earlier.digest !== copy.digest) await sender.settle(key);
      const decision = decide(copy, earlier);
      if (decision.kind !== "send") return count(report, decision, place, document);
      copies.set(key, copy);
      const error = tooLargeFor(size, values);
      if (error === "") return await sender.add({ record, key, size, values, copy, after: decision.after, document });
      settle(report, { copy, after: undefined, document }, { outcome: RecordOutcome.LEFT_OUT, error }, dryRun);
    },
    complete(version, document) {
      const { source, document: id, revision } = version;
      const request = { source, document: id, modifyTime: toTimestamp(version.modifyTime), revision: BigInt(revision) };
      sender.afterwards(async () => {
        if (!document.isWhole) return;
        documents.complete(version, document.file);
        const deletedCount = await calls.complete(request);
        // In a dry run the server still has the versions that records of the document replace.
        report.superseded += dryRun ? Math.max(0, deletedCount - document.replaced) : deletedCount;
      });
    },
    async finish() {
      await sender.finish();
      for (const [copy, reason] of documents.lost(copies.values())) loseRecord(report, copy, reason, dryRun);
    },
    abandon: () => sender.abandon(),
  };
}

function sizeOf(record: AdvisoryRecord): Pick<Item, "size" | "values"> {
  const bytes = toBinary(AdvisoryRecordSchema, record);
  return { size: bytes.length, values: countValues(AdvisoryRecordSchema, bytes, maxBatch.values) };
}

/** Returns the limit that a record exceeds, if no request can hold it; otherwise empty. */
function tooLargeFor(size: number, values: number): string {
  if (size > maxBatch.bytes) return `is larger than the limit of ${sizeText(maxBatch.bytes)}`;
  return values > maxBatch.values ? `has more values than the limit of ${maxBatch.values}` : "";
}

/** Counts a copy that is not sent. */
function count(
  report: Report,
  decision: Exclude<ReturnType<typeof decide>, { kind: "send" }>,
  place: Place,
  document: OpenDocument,
): void {
  if (decision.kind === "older") report.count(RecordOutcome.UNCHANGED);
  else if (decision.kind === "left out") {
    document.isWhole = false;
    report.leaveOut(place, { path: "", rule: decision.reason });
  } else {
    decision.of.repeats.push(place);
    if (decision.of.result) countRepeat(report, decision.of, place);
  }
}

function countRepeat(report: Report, { result }: Copy, place: Place): void {
  if (result?.outcome === RecordOutcome.LEFT_OUT) report.leaveOut(place, { path: "", rule: result.error });
  else report.count(RecordOutcome.UNCHANGED);
}

/** Counts the outcome of a copy that was sent. */
function settle(
  report: Report,
  { copy, after, document }: Pick<SentItem, "copy" | "after" | "document">,
  result: Pick<RecordResult, "outcome" | "error">,
  isDryRun: boolean,
): void {
  const outcome = after ? outcomeAfter(after, copy, result.outcome, isDryRun) : result.outcome;
  const lost = after ? lostProducts(after, copy) : [];
  copy.result = { outcome, error: result.error };
  if (outcome === RecordOutcome.LEFT_OUT) {
    document.isWhole = false;
    report.leaveOut(copy.place, { path: "", rule: result.error });
  } else report.count(outcome);
  if (isTaken(outcome) && outcome !== RecordOutcome.CREATED) document.replaced++;
  if (isTaken(outcome) && after && isTie(copy, after)) retract(report, after, tieReason(copy.place));
  else if (outcome !== RecordOutcome.LEFT_OUT && after && lost.length > 0)
    retract(report, after, lossReason(copy.place, lost));
  for (const place of copy.repeats) countRepeat(report, copy, place);
}

/** Reports a record that a later version of its document has deleted. One that this import had stored is not an earlier version. */
function loseRecord(report: Report, copy: Copy, reason: string, isDryRun: boolean): void {
  if (copy.result?.outcome === RecordOutcome.CREATED && !isDryRun && report.superseded > 0) report.superseded--;
  retract(report, copy, reason);
}

/** A copy that was taken, and that another one of the same time has replaced: nothing is left of it. */
function retract(report: Report, copy: Copy, reason: string): void {
  if (!copy.result || copy.result.outcome === RecordOutcome.LEFT_OUT) return;
  report.count(copy.result.outcome, -1);
  report.count(RecordOutcome.UNCHANGED, -copy.repeats.length);
  for (const place of [copy.place, ...copy.repeats]) report.leaveOut(place, { path: "", rule: reason });
}
