// Stores and deletes records, and updates their advisories.
import { create, type JsonValue, toJson } from "@bufbuild/protobuf";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import {
  type AdvisoryRecord,
  AdvisoryRecordSchema,
  RecordOutcome,
} from "../../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { partsOf, type RecordPart } from "../../../advisories/derive/parts.ts";
import { digestOf, repairedDigestOf } from "../../../advisories/digest.ts";
import { fromTimestamp } from "../../../aip/timestamps.ts";
import { ConcurrencyConflict, UniqueViolation } from "../../../storage/engine/errors.ts";
import type { Session, Transaction } from "../../../storage/engine/session.ts";
import { findCompleteDocument, lockDocument } from "../../../storage/vulnerabilities/complete-documents.ts";
import {
  deleteRecord,
  deleteRecordLink,
  findStoredCopy,
  insertRecord,
  insertRecordLink,
  type NewRecordRow,
  readRecords,
  type StoredCopy,
  updateRecord,
} from "../../../storage/vulnerabilities/records.ts";
import { lastImportTime } from "../../../storage/vulnerabilities/rows.ts";
import { newRecordReader, partsByKey, type RecordReader, recordMessage } from "./linked-records.ts";
import { type LocatedAdvisory, locate, locateByUid } from "./located-advisories.ts";
import { withdrawOlderParts } from "./older-parts.ts";
import { type Copy, type Decision, decideCopy, firstDecision, unchanged, versionOf } from "./record-copies.ts";
import { refreshAdvisory } from "./refresh-advisory.ts";

/** An imported record, with the fields that decide about it. */
export interface IncomingRecord {
  readonly record: AdvisoryRecord;
  readonly copy: Copy;
}

/** Prepares a record of a request. */
export function incomingRecord(record: AdvisoryRecord): IncomingRecord {
  const digest = digestOf(record);
  const digests = { digest, repairedDigest: repairedDigestOf(record, digest) };
  return { record, copy: { ...digests, withdrawTime: timeOf(record.withdrawTime), ...versionOf(record) } };
}

/** Returns a stored copy with the columns that decide between it and another one. Reads its content only if both have one time. */
export async function comparableCopy(
  session: Session,
  stored: StoredCopy | undefined,
  { digest, modifyTime }: Copy,
): Promise<Copy | undefined> {
  if (!stored) return undefined;
  let repairedDigest = stored.digest;
  const isTied = stored.digest !== digest && stored.modifyTime === modifyTime;
  for await (const row of readRecords(session, isTied ? [stored] : []))
    repairedDigest = repairedDigestOf(recordMessage(row), row.digest);
  return { ...stored, repairedDigest };
}

/** Decides about a record by the stored copies. */
export async function decideRecord(
  session: Session,
  parent: string,
  { record, copy }: IncomingRecord,
  stored: Copy | undefined,
  now: number,
): Promise<Decision> {
  const { source, document } = record;
  return decideCopy(copy, stored, await findCompleteDocument(session, { parent, source, document }), now);
}

/** Decides about a record, also by what earlier versions imported. Writes nothing. */
export async function previewRecord(
  session: Session,
  parent: string,
  incoming: IncomingRecord,
  stored: Copy | undefined,
  now: number,
): Promise<Decision> {
  const decision = await decideRecord(session, parent, incoming, stored, now);
  if (stored || !isWritten(decision)) return decision;
  const { record, copy } = incoming;
  const located = await locateAll(session, parent, record);
  return located.some((each) => isOlderThanImported(each, copy, record.source, now)) ? unchanged : decision;
}

/** Whether a decision writes the record. */
export function isWritten({ outcome }: Decision): boolean {
  return outcome !== RecordOutcome.UNCHANGED && outcome !== RecordOutcome.LEFT_OUT;
}

async function locateAll(session: Session, parent: string, record: AdvisoryRecord): Promise<LocatedAdvisory[]> {
  const located: LocatedAdvisory[] = [];
  for (const part of partsOf(record)) located.push(await locate(session, parent, part, record));
  return located;
}

/** Stores a record if the decision says so, and updates its advisories. `since` is that of a repeated request. */
export async function storeRecord(
  tx: Transaction,
  parent: string,
  { record, copy }: IncomingRecord,
  since: number | undefined,
): Promise<Decision> {
  const { source, document, vulnerability } = record;
  const key = { parent, source, document, vulnerability };
  const { time } = tx.context;
  await lockDocument(tx, key, "shared");
  // Both queries take one round trip to PostgreSQL.
  const [stored, complete] = await Promise.all([findStoredCopy(tx, key, tx.rowLock), findCompleteDocument(tx, key)]);
  const decision = decideCopy(copy, await comparableCopy(tx, stored, copy), complete, time);
  if (!isWritten(decision)) return firstDecision(decision, copy, stored, since);
  const located = await locateAll(tx, parent, record);
  if (located.some((each) => isOlderThanImported(each, copy, source, time))) return unchanged;
  const advisoryUids = located.map(({ uid }) => uid);
  const parts = partsByKey(record);
  const changed = await changedParts(tx, parts, copy, stored);
  const row = rowOf(record, copy, { ...key, advisoryUids, createTime: stored?.createTime ?? time, updateTime: time });
  const id = await writeRow(tx, row, stored);
  const reader = newRecordReader(tx);
  reader.add({ ...row, id, record, parts });
  const dropped = await findDropped(tx, stored, advisoryUids);
  for (const { uid } of dropped) await deleteRecordLink(tx, uid, id);
  for (const { uid } of located) await insertRecordLink(tx, uid, id);
  const refreshed = located.map((each, i) => ({ ...each, changesStatements: changed[i]! }));
  await refreshAll(tx, parent, [...refreshed, ...dropped.map(withChange)], reader);
  if (located[0]!.isOlder) await withdrawOlderParts(tx, parent, record, copy.modifyTime ?? time);
  return decision;
}

/** Returns for each part of a record, in their order, whether what counts of its statements differs from the stored copy. */
async function changedParts(
  tx: Transaction,
  parts: ReadonlyMap<string, RecordPart>,
  { withdrawTime }: Copy,
  stored: StoredCopy | undefined,
): Promise<boolean[]> {
  const all = [...parts];
  if (!stored || (stored.withdrawTime === null) !== (withdrawTime === null)) return all.map(() => true);
  const former = new Map<string, RecordPart>();
  for await (const row of readRecords(tx, [stored]))
    for (const [key, part] of partsByKey(recordMessage(row))) former.set(key, part);
  return all.map(([key, part]) => digestOfPart(former.get(key)) !== digestOfPart(part));
}

function digestOfPart(part: RecordPart | undefined): string {
  return part ? digestOf(create(AdvisoryRecordSchema, { statements: [...part.statements] })) : "";
}

/** Whether a copy is older than what an earlier version imported from its source. */
function isOlderThanImported({ row }: LocatedAdvisory, { modifyTime }: Copy, source: string, now: number): boolean {
  if (!row || modifyTime === null) return false;
  const told = lastImportTime(row, source);
  return told <= now && modifyTime < told;
}

function rowOf(
  record: AdvisoryRecord,
  { repairedDigest: _, ...copy }: Copy,
  about: Pick<NewRecordRow, "parent" | "advisoryUids" | "createTime" | "updateTime">,
): NewRecordRow {
  const { source, document, vulnerability, format, publishTime } = record;
  const statements = record.statements.map((each) => (each.advisoryId === "" ? each : { ...each, advisoryId: "" }));
  const json = toJson(AdvisoryRecordSchema, { ...record, statements, digest: "", group: "" });
  return {
    source,
    document,
    vulnerability,
    format,
    publishTime: timeOf(publishTime),
    ...copy,
    ...about,
    size: JSON.stringify(json).length,
    record: json as JsonValue,
  };
}

async function writeRow(tx: Transaction, row: NewRecordRow, stored: StoredCopy | undefined): Promise<number> {
  if (stored) {
    await updateRecord(tx, { ...row, id: stored.id });
    return stored.id;
  }
  try {
    return await insertRecord(tx, row);
  } catch (error) {
    throw error instanceof UniqueViolation
      ? new ConcurrencyConflict("the record was added meanwhile", { cause: error })
      : error;
  }
}

/** Finds the advisories that a record no longer has a part about. */
async function findDropped(
  tx: Transaction,
  stored: StoredCopy | undefined,
  kept: readonly string[],
): Promise<LocatedAdvisory[]> {
  const uids = new Set(kept);
  const found: LocatedAdvisory[] = [];
  for (const uid of stored?.advisoryUids ?? []) {
    const located = uids.has(uid) ? undefined : await locateByUid(tx, uid);
    if (located) found.push(located);
  }
  return found;
}

/** An advisory, and whether the statements about it that count are others than before. */
interface ChangedAdvisory extends LocatedAdvisory {
  readonly changesStatements: boolean;
}

function withChange(located: LocatedAdvisory): ChangedAdvisory {
  return { ...located, changesStatements: true };
}

/** How many advisories are updated per event-loop tick. */
const refreshedAtOnce = 50;

/** Updates advisories in the order of their uids: concurrent transactions then do not deadlock. */
async function refreshAll(
  tx: Transaction,
  parent: string,
  located: readonly ChangedAdvisory[],
  reader: RecordReader,
): Promise<void> {
  const inOrder = located.toSorted((a, b) => (a.uid < b.uid ? -1 : 1));
  for (const [i, each] of inOrder.entries()) {
    if (i > 0 && i % refreshedAtOnce === 0) await nextTick();
    await refreshAdvisory(tx, each, reader, each.changesStatements);
  }
  tx.changeExports(parent);
}

/** Deletes a record. `stored` is what this transaction read. */
export async function dropRecord(tx: Transaction, stored: StoredCopy): Promise<void> {
  const dropped = await findDropped(tx, stored, []);
  await deleteRecord(tx, stored.id);
  for (const uid of stored.advisoryUids) await deleteRecordLink(tx, uid, stored.id);
  await refreshAll(tx, stored.parent, dropped.map(withChange), newRecordReader(tx));
}

function timeOf(timestamp: Timestamp | undefined): number | null {
  return timestamp ? fromTimestamp(timestamp) : null;
}

/** Waits for the next event-loop tick. */
function nextTick(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
