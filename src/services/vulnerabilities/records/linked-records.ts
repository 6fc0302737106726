// Reads the records from which an advisory is derived.
import { fromJson, type JsonValue } from "@bufbuild/protobuf";
import { type AdvisoryRecord, AdvisoryRecordSchema } from "../../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { partKey, partsOf, type RecordPart } from "../../../advisories/derive/parts.ts";
import { failedPrecondition } from "../../../aip/errors.ts";
import type { Session } from "../../../storage/engine/session.ts";
import { findRecordsOf, type RecordRow, readRecords } from "../../../storage/vulnerabilities/records.ts";
import { advisoryLimits } from "../limits.ts";

/** A record with its parts by key. */
export interface LoadedRecord extends Pick<RecordRow, "createTime" | "updateTime" | "withdrawTime"> {
  readonly id: number;
  readonly record: AdvisoryRecord;
  readonly parts: ReadonlyMap<string, RecordPart>;
}

/** Reads the records of the advisories of one transaction. Reads each record once. */
export interface RecordReader {
  /** Adds a record that was just written, to avoid reading it again. */
  add(record: LoadedRecord): void;
  /** Returns the added records: those about an advisory that had none before. */
  added(): LoadedRecord[];
  /** Reads the records about an advisory. Throws if there are too many, or if they are too long in total. */
  of(advisoryUid: string): Promise<LoadedRecord[]>;
}

/** Returns the parts of a record by key. */
export function partsByKey(record: AdvisoryRecord): Map<string, RecordPart> {
  return new Map(partsOf(record).map((part) => [partKey(part), part]));
}

/** Converts a stored record to a message. */
export function recordMessage(row: Pick<RecordRow, "record">): AdvisoryRecord {
  return fromJson(AdvisoryRecordSchema, row.record as JsonValue);
}

/** Opens a reader. */
export function newRecordReader(session: Session): RecordReader {
  const known = new Map<number, LoadedRecord>();
  const added: LoadedRecord[] = [];

  return {
    add(record) {
      known.set(record.id, record);
      added.push(record);
    },
    added: () => added,
    async of(advisoryUid) {
      const linked = await findRecordsOf(session, [advisoryUid]);
      checkAmount(linked, advisoryUid);
      const unknown = linked.filter(({ id }) => !known.has(id));
      for await (const row of readRecords(session, unknown)) known.set(row.id, loadedRecord(row));
      return linked.flatMap(({ id }) => known.get(id) ?? []);
    },
  };
}

function loadedRecord(row: RecordRow): LoadedRecord {
  const { id, createTime, updateTime, withdrawTime } = row;
  const record = recordMessage(row);
  return { id, record, parts: partsByKey(record), createTime, updateTime, withdrawTime };
}

function checkAmount(linked: readonly Pick<RecordRow, "size">[], advisoryUid: string): void {
  const { records, recordsLength } = advisoryLimits;
  const length = linked.reduce((sum, { size }) => sum + size, 0);
  if (linked.length > records)
    throw failedPrecondition("TOO_MANY_RECORDS", `an advisory may have at most ${records} records`, advisoryUid);
  if (length > recordsLength) {
    const rule = `the records of an advisory may have at most ${recordsLength} characters in total`;
    throw failedPrecondition("TOO_MANY_RECORDS", rule, advisoryUid);
  }
}

/** Adds the server fields to a record. */
export function shownRecord(
  record: AdvisoryRecord,
  filled: Pick<AdvisoryRecord, "digest" | "group">,
  parts = partsOf(record),
): AdvisoryRecord {
  for (const { advisoryId, statements } of parts) for (const statement of statements) statement.advisoryId = advisoryId;
  return Object.assign(record, filled);
}
