// Stores imported records, and links them to the advisories that they are about.
import { rangeBelow } from "../../model/uid.ts";
import { limitOf, placeholders, textPlaceholder } from "../engine/placeholders.ts";
import type { Session, Transaction } from "../engine/session.ts";
import { and, asc, eq, getTableColumns, gte, inArray, isNotNull, lt, sql } from "../schema/drizzle.ts";
import type { Tables } from "../schema/tables.ts";
import { clearCompleteDocuments, type DocumentKey } from "./complete-documents.ts";

/** A record as it is stored; `record` is the protobuf JSON of the message. */
export type RecordRow = Tables["advisoryRecords"]["$inferSelect"];

/** A record without its id, which the database assigns. */
export type NewRecordRow = Omit<RecordRow, "id">;

/** Identifies a record. */
export type RecordRowKey = Pick<RecordRow, "parent" | "source" | "document" | "vulnerability">;

/** The columns that decide which version of a record is newer. */
export type StoredCopy = Omit<RecordRow, "record">;

/**
 * Returns the record with this key without its content, or undefined. Locks it with `lock`, if given, until the end of
 * the transaction.
 */
export async function findStoredCopy(
  session: Session,
  key: RecordRowKey,
  lock?: Transaction["rowLock"],
): Promise<StoredCopy | undefined> {
  const statement = session.prepared(`advisory_records.copy.${lock ?? "plain"}`, (db, { advisoryRecords: records }) => {
    const { record: _, ...columns } = getTableColumns(records);
    const select = db
      .select(columns)
      .from(records)
      .where(
        and(
          eq(records.parent, sql.placeholder("parent")),
          eq(records.source, sql.placeholder("source")),
          eq(records.document, sql.placeholder("document")),
          eq(records.vulnerability, sql.placeholder("vulnerability")),
        ),
      );
    return lock ? select.for(lock) : select;
  });
  const { parent, source, document, vulnerability } = key;
  return (await statement.execute({ parent, source, document, vulnerability }))[0];
}

/** Inserts a record, and returns its id. Throws UniqueViolation or ReferenceViolation. */
export async function insertRecord(tx: Transaction, row: NewRecordRow): Promise<number> {
  const statement = tx.prepared("advisory_records.insert", (db, { advisoryRecords: records }) => {
    const { id: _, ...columns } = getTableColumns(records);
    return db
      .insert(records)
      .values(placeholders(Object.keys(columns)) as never)
      .returning({ id: records.id });
  });
  return (await statement.execute({ ...row }))[0]!.id;
}

/** Replaces a record by another version. */
export async function updateRecord(tx: Transaction, row: RecordRow): Promise<void> {
  const statement = tx.prepared("advisory_records.update", (db, { advisoryRecords: records }) => {
    const keys = ["id", "parent", "source", "document", "vulnerability", "createTime"];
    const columns = Object.keys(getTableColumns(records)).filter((name) => !keys.includes(name));
    return db
      .update(records)
      .set(placeholders(columns))
      .where(eq(records.id, sql.placeholder("id")));
  });
  await statement.execute({ ...row });
}

/** Deletes a record. */
export async function deleteRecord(tx: Transaction, id: number): Promise<void> {
  const statement = tx.prepared("advisory_records.delete", (db, { advisoryRecords: records }) =>
    db.delete(records).where(eq(records.id, sql.placeholder("id"))),
  );
  await statement.execute({ id });
}

/** A record that an advisory is derived from, without its content. */
export interface LinkedRecord extends Pick<RecordRow, "id" | "size"> {
  readonly advisoryUid: string;
}

/** Returns the ids and sizes of the records about advisories; those of each advisory in order of their first import. */
export async function findRecordsOf(session: Session, advisoryUids: readonly string[]): Promise<LinkedRecord[]> {
  const statement = session.prepared("advisory_records.of", (db, { advisoryRecords, advisoryRecordLinks: links }) =>
    db
      .select({ advisoryUid: links.advisoryUid, id: advisoryRecords.id, size: advisoryRecords.size })
      .from(links)
      .innerJoin(advisoryRecords, eq(advisoryRecords.id, links.recordId))
      .where(session.isAmong(links.advisoryUid, textPlaceholder("advisoryUids")))
      .orderBy(asc(links.advisoryUid), asc(links.recordId)),
  );
  return await statement.execute({ advisoryUids: JSON.stringify(advisoryUids) });
}

/** Returns the links of advisories to records. */
export async function findRecordLinks(
  session: Session,
  advisoryUids: readonly string[],
): Promise<Tables["advisoryRecordLinks"]["$inferSelect"][]> {
  const statement = session.prepared("advisory_record_links.of", (db, { advisoryRecordLinks: links }) =>
    db
      .select()
      .from(links)
      .where(session.isAmong(links.advisoryUid, textPlaceholder("advisoryUids")))
      .orderBy(asc(links.advisoryUid), asc(links.recordId)),
  );
  return await statement.execute({ advisoryUids: JSON.stringify(advisoryUids) });
}

/** How many records one statement reads at most, and their total size in characters unless one alone is larger. */
const readAtOnce = { records: 20, size: 250_000 };

/** Yields records with their content, small ones several at a time. Deleted ones are missing. */
export async function* readRecords(
  session: Session,
  wanted: readonly Pick<RecordRow, "id" | "size">[],
): AsyncGenerator<RecordRow> {
  const names = Array.from({ length: readAtOnce.records }, (_, i) => `id${i}`);
  const statement = session.prepared("advisory_records.get", (db, { advisoryRecords: records }) =>
    db
      .select()
      .from(records)
      .where(
        inArray(
          records.id,
          names.map((name) => sql.placeholder(name)),
        ),
      ),
  );
  for (const ids of portionsOf(wanted))
    yield* await statement.execute(Object.fromEntries(names.map((name, i) => [name, ids[i] ?? ids[0]])));
}

function portionsOf(wanted: readonly Pick<RecordRow, "id" | "size">[]): number[][] {
  const portions: number[][] = [];
  let left = 0;
  for (const { id, size } of wanted) {
    const last = portions.at(-1);
    if (last && last.length < readAtOnce.records && size <= left) last.push(id);
    else {
      portions.push([id]);
      left = readAtOnce.size;
    }
    left -= size;
  }
  return portions;
}

/** Links a record to an advisory. */
export async function insertRecordLink(tx: Transaction, advisoryUid: string, recordId: number): Promise<void> {
  const statement = tx.prepared("advisory_record_links.insert", (db, { advisoryRecordLinks: links }) =>
    db
      .insert(links)
      .values({ advisoryUid: sql.placeholder("advisoryUid"), recordId: sql.placeholder("recordId") })
      .onConflictDoNothing(),
  );
  await statement.execute({ advisoryUid, recordId });
}

/** Removes the link of a record to an advisory. */
export async function deleteRecordLink(tx: Transaction, advisoryUid: string, recordId: number): Promise<void> {
  const statement = tx.prepared("advisory_record_links.delete", (db, { advisoryRecordLinks: links }) =>
    db
      .delete(links)
      .where(
        and(eq(links.advisoryUid, sql.placeholder("advisoryUid")), eq(links.recordId, sql.placeholder("recordId"))),
      ),
  );
  await statement.execute({ advisoryUid, recordId });
}

/** Returns the records of a document without their content, ordered by vulnerability. */
export async function findCopiesOfDocument(session: Session, key: DocumentKey): Promise<StoredCopy[]> {
  const statement = session.prepared("advisory_records.of_document", (db, { advisoryRecords: records }) => {
    const { record: _, ...columns } = getTableColumns(records);
    return db
      .select(columns)
      .from(records)
      .where(
        and(
          eq(records.parent, textPlaceholder("parent")),
          eq(records.source, textPlaceholder("source")),
          eq(records.document, textPlaceholder("document")),
        ),
      )
      .orderBy(asc(records.vulnerability));
  });
  const { parent, source, document } = key;
  return await statement.execute({ parent, source, document });
}

/** Selects a page of records. */
export interface RecordListing {
  /** The groups: uids from `from` to before `to`. */
  readonly from: string;
  readonly to: string;
  /** Empty texts filter nothing. */
  readonly source: string;
  readonly document: string;
  readonly isWithdrawn: boolean;
  /** The page starts after this record. */
  readonly after: RecordRowKey;
  readonly limit: number;
}

/** Returns a page of records, ordered by group, source, document and vulnerability. */
export async function listRecords<W extends boolean>(
  session: Session,
  listing: RecordListing,
  isWhole: W,
): Promise<(W extends true ? RecordRow : StoredCopy)[]> {
  const { after, isWithdrawn, ...rest } = listing;
  const shape = [isWhole, listing.source !== "", listing.document !== "", isWithdrawn].map(Number).join("");
  const statement = session.prepared(`advisory_records.list.${shape}`, (db, { advisoryRecords: records }) => {
    const { record, ...columns } = getTableColumns(records);
    const behind = ["parent", "source", "document", "vulnerability"].map((name) => textPlaceholder(`after.${name}`));
    const key = sql`(${records.parent}, ${records.source}, ${records.document}, ${records.vulnerability})`;
    return db
      .select(isWhole ? { ...columns, record } : columns)
      .from(records)
      .where(
        and(
          sql`${key} > (${sql.join(behind, sql`, `)})`,
          gte(records.parent, sql.placeholder("from")),
          lt(records.parent, sql.placeholder("to")),
          ...(listing.source === "" ? [] : [eq(records.source, sql.placeholder("source"))]),
          ...(listing.document === "" ? [] : [eq(records.document, sql.placeholder("document"))]),
          ...(isWithdrawn ? [isNotNull(records.withdrawTime)] : []),
        ),
      )
      .orderBy(asc(records.parent), asc(records.source), asc(records.document), asc(records.vulnerability))
      .limit(limitOf("limit"));
  });
  const behind = Object.fromEntries(Object.entries(after).map(([name, value]) => [`after.${name}`, value]));
  return (await statement.execute({ ...rest, ...behind })) as never;
}

/** Deletes all records of a group that is about to be deleted. Returns whether there were any. */
export async function clearRecords(tx: Transaction, parent: string): Promise<boolean> {
  const unlink = tx.prepared("advisory_record_links.clear", (db, { advisoryRecordLinks: links }) =>
    db
      .delete(links)
      .where(and(gte(links.advisoryUid, sql.placeholder("from")), lt(links.advisoryUid, sql.placeholder("to")))),
  );
  const remove = tx.prepared("advisory_records.clear", (db, { advisoryRecords: records }) =>
    db
      .delete(records)
      .where(eq(records.parent, sql.placeholder("parent")))
      .returning({ id: records.id }),
  );
  await unlink.execute({ ...rangeBelow(parent) });
  const removed = await remove.execute({ parent });
  await clearCompleteDocuments(tx, parent);
  return removed.length > 0;
}
