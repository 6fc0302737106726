import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  type AdvisoryRecord,
  AdvisoryRecordsService,
  type BatchDeleteAdvisoryRecordsRequest,
  type CompleteDocumentRequest,
  type ImportAdvisoryRecordsRequest,
  type ImportAdvisoryRecordsResponseSchema,
  type RecordKey,
  RecordOutcome,
  type RecordResultSchema,
} from "../../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { keyOf } from "../../../advisories/digest.ts";
import { ApiError, Code, fieldViolationsOf, invalidArgument, invalidField, notFound } from "../../../aip/errors.ts";
import { fromTimestamp, toTimestamp } from "../../../aip/timestamps.ts";
import type { Call } from "../../../pipeline/call.ts";
import { type Implementation, implement } from "../../../pipeline/handlers.ts";
import { type ServiceContext, writeContext } from "../../../resource/service-context.ts";
import { findRow } from "../../../storage/collection/rows.ts";
import { ReferenceViolation } from "../../../storage/engine/errors.ts";
import type { Transaction } from "../../../storage/engine/session.ts";
import { groupCollection } from "../../../storage/iam/collections.ts";
import {
  type CompleteDocumentRow,
  findCompleteDocument,
  lockDocument,
  writeCompleteDocument,
} from "../../../storage/vulnerabilities/complete-documents.ts";
import {
  findCopiesOfDocument,
  findStoredCopy,
  type RecordRowKey,
  type StoredCopy,
} from "../../../storage/vulnerabilities/records.ts";
import { groupParents } from "../../iam/groups/groups.ts";
import { isTime, timeRule } from "../advisories/event-content.ts";
import { advisoryLimits } from "../limits.ts";
import { type Copy, compareVersions, type Decision, firstDecision, versionOf } from "./record-copies.ts";
import { recordLists } from "./record-lists.ts";
import { checkRecord, recordRules } from "./record-rules.ts";
import {
  comparableCopy,
  decideRecord,
  dropRecord,
  type IncomingRecord,
  incomingRecord,
  isWritten,
  previewRecord,
  storeRecord,
} from "./store-record.ts";

type Result = MessageInitShape<typeof RecordResultSchema>;

/** Serves advisory records. */
export function advisoryRecords(context: ServiceContext): Implementation {
  const work = recordWork(context);
  return implement(
    AdvisoryRecordsService,
    {
      importAdvisoryRecords: (request, call) => importRecords(context, work, request, call),
      completeDocument: (request, call) => completeDocument(context, work, request, call),
      async batchDeleteAdvisoryRecords(request, call) {
        requireFewRecords(request.records);
        return await deleteRecords(work, request, call);
      },
      ...recordLists(context),
    },
    recordRules,
  );
}

/** Stores the records that are new or later than their stored copies. */
async function importRecords(
  context: ServiceContext,
  work: RecordWork,
  { parent, records, dryRun, repeatSince }: ImportAdvisoryRecordsRequest,
  call: Call,
): Promise<MessageInitShape<typeof ImportAdvisoryRecordsResponseSchema>> {
  const startTime = toTimestamp(context.clock());
  requireFewRecords(records);
  const since = repeatSince && fromTimestamp(repeatSince);
  if (since !== undefined && !isTime(since)) throw invalidField("repeat_since", timeRule);
  await work.checkGroup(parent);
  const previews = await preview(context, parent, records, dryRun ? previewRecord : decideRecord, since);
  const results = dryRun
    ? previews.map(({ result }) => result)
    : await work.onAll(
        previews,
        ({ key }) => key,
        (each) => storePreviewed(work, parent, each, call, since),
      );
  return { results, startTime, endTime: toTimestamp(context.clock()) };
}

type RecordWork = ReturnType<typeof recordWork>;

/** Returns the functions that all writing methods share. */
function recordWork({ database, clock }: ServiceContext) {
  return {
    async checkGroup(parent: string): Promise<void> {
      if (!(await findRow(database.session, groupCollection, parent))) throw notFound(groupParents.type, parent);
    },

    write<T>(call: Call, body: (tx: Transaction) => Promise<T>): Promise<T> {
      return database.write({ ...writeContext(call, clock), isBulk: true }, body);
    },

    /** Runs `work` on items concurrently, up to the write limit, but sequentially for items of one key. */
    async onAll<T, R>(items: readonly T[], keyOfItem: (item: T) => string, work: (item: T) => Promise<R>) {
      const results = new Map<T, R>();
      const groups = Map.groupBy(items, keyOfItem).values();
      const worker = async () => {
        for (const group of groups) for (const each of group) results.set(each, await work(each));
      };
      const { local, remote } = advisoryLimits.recordsAtOnce;
      const workers = Math.min(database.session.isRemote ? remote : local, items.length);
      await Promise.all(Array.from({ length: workers }, worker));
      return items.map((each) => results.get(each)!);
    },
  };
}

/**
 * Previews the outcome for the records of a request. Records of one key are handled in order. `decide` may leave the decision to the
 * writing transaction.
 */
async function preview(
  { database, clock }: ServiceContext,
  parent: string,
  records: readonly AdvisoryRecord[],
  decide: Decider,
  since: number | undefined,
): Promise<Preview[]> {
  const now = clock();
  return await database.read(async (session) => {
    const earlier = new Map<string, Copy>();
    const previews: Preview[] = [];
    for (const record of records) {
      const key = keyOf(record);
      const incoming = await resultOf(async () => checked(record));
      if ("outcome" in incoming) {
        previews.push({ key, result: incoming });
        continue;
      }
      const { copy } = incoming;
      const before = earlier.get(key);
      const stored = before ? undefined : await findStoredCopy(session, { parent, ...record });
      const decision = isRepeated(copy, before)
        ? repeated
        : await decide(session, parent, incoming, before ?? (await comparableCopy(session, stored, copy)), now);
      const result = firstDecision(decision, copy, stored, since);
      if (isWritten(decision)) earlier.set(key, copy);
      previews.push({ key, result, incoming: isWritten(decision) ? incoming : undefined });
    }
    return previews;
  });
}

async function storePreviewed(
  work: RecordWork,
  parent: string,
  { incoming, result }: Preview,
  call: Call,
  since: number | undefined,
): Promise<Result> {
  if (!incoming) return result;
  return await resultOf(() => work.write(call, (tx) => storeRecord(tx, parent, incoming, since)));
}

/** Stores that a document is complete in a version, and deletes its older copies. */
async function completeDocument(
  { database, clock }: ServiceContext,
  work: RecordWork,
  request: CompleteDocumentRequest,
  call: Call,
) {
  const { parent, source, document, dryRun } = request;
  const modifyTime = fromTimestamp(request.modifyTime!);
  if (!isTime(modifyTime)) throw invalidField("modify_time", timeRule);
  if (request.revision < 0n) throw invalidField("revision", "must not be negative");
  await work.checkGroup(parent);
  const row = { parent, source, document, ...versionOf(request), modifyTime };
  const now = clock();
  // A time in the future would block all correct copies.
  if (modifyTime > now) return { deletedCount: 0 };
  if (!dryRun && !(await markComplete(database, work, row, now, call))) return { deletedCount: 0 };
  const isOlder = (copy: StoredCopy) => compareVersions(copy, row, now) < 0;
  // After the mark, which every later copy is decided by.
  const older = (await findCopiesOfDocument(database.session, row)).filter(isOlder);
  if (dryRun) return { deletedCount: older.length };
  const removeOlder = (copy: StoredCopy) => work.write(call, (tx) => removeOne(tx, copy, isOlder));
  return { deletedCount: countTrue(await work.onAll(older, keyOf, removeOlder)) };
}

/** Stores that a document is complete in a version. Returns false if it is complete in a later one. */
async function markComplete(
  { session }: ServiceContext["database"],
  work: RecordWork,
  row: CompleteDocumentRow,
  now: number,
  call: Call,
): Promise<boolean> {
  const orderOfStored = (stored: CompleteDocumentRow | undefined) => (stored ? compareVersions(stored, row, now) : -1);
  // Repeated imports write nothing.
  const known = orderOfStored(await findCompleteDocument(session, row));
  if (known >= 0) return known === 0;
  return await work.write(call, async (tx) => {
    await lockDocument(tx, row, "exclusive");
    const order = orderOfStored(await findCompleteDocument(tx, row));
    if (order < 0) await writeCompleteDocument(tx, row);
    return order <= 0;
  });
}

/** Deletes the named records that exist. */
async function deleteRecords(work: RecordWork, { parent, records }: BatchDeleteAdvisoryRecordsRequest, call: Call) {
  await work.checkGroup(parent);
  const removeCopy = ({ source, document, vulnerability, digest }: RecordKey) => {
    const isMatch = (stored: StoredCopy) => digest === "" || digest === stored.digest;
    return work.write(call, (tx) => removeOne(tx, { parent, source, document, vulnerability }, isMatch));
  };
  return { deletedCount: countTrue(await work.onAll(records, keyOf, removeCopy)) };
}

type Decider = typeof decideRecord;

/** The expected result of a record, and the record itself if it is to be written. */
interface Preview {
  readonly key: string;
  readonly result: Decision;
  readonly incoming?: IncomingRecord | undefined;
}

const repeated: Decision = {
  outcome: RecordOutcome.LEFT_OUT,
  error: "another record of the request has the same key, and neither has a modify_time",
};

/** Whether an earlier copy in the request wins. Of copies without a time the first one does, so repeated imports change nothing. */
function isRepeated(copy: Copy, before: Copy | undefined): boolean {
  return (
    before !== undefined && before.digest !== copy.digest && copy.modifyTime === null && before.modifyTime === null
  );
}

function checked(record: AdvisoryRecord): IncomingRecord {
  const found = checkRecord(record);
  if (found.length > 0) throw invalidArgument(found);
  return incomingRecord(record);
}

/** Deletes a record if it exists and matches. Returns whether it did. */
async function removeOne(tx: Transaction, key: RecordRowKey, isMatch: (stored: StoredCopy) => boolean) {
  const stored = await findStoredCopy(tx, key, tx.rowLock);
  if (!stored || !isMatch(stored)) return false;
  await dropRecord(tx, stored);
  return true;
}

function countTrue(values: readonly boolean[]): number {
  return values.filter((value) => value).length;
}

function requireFewRecords(records: readonly unknown[]): void {
  const { requestRecords } = advisoryLimits;
  if (records.length > requestRecords) throw invalidField("records", `must not have more than ${requestRecords} items`);
}

/** Returns the result of the work, or why the record is left out. */
async function resultOf<T>(work: () => Promise<T>): Promise<T | Decision> {
  try {
    return await work();
  } catch (error) {
    return { outcome: RecordOutcome.LEFT_OUT, error: recordError(error) };
  }
}

const endsCall: ReadonlySet<Code> = new Set([Code.CANCELLED, Code.DEADLINE_EXCEEDED]);

/** The maximum number of violations in one reason. */
const namedViolations = 3;

/** Returns why a record is left out. Rethrows errors that are not caused by the record. */
function recordError(error: unknown): string {
  if (error instanceof ReferenceViolation) return "its group is being deleted";
  // The client has left, or the deadline has passed: the rest of the request is not written either.
  if (!(error instanceof ApiError) || endsCall.has(error.code)) throw error;
  const named = fieldViolationsOf(error)?.slice(0, namedViolations);
  return named ? named.map(({ field, description }) => `${field}: ${description}`).join("; ") : error.message;
}
