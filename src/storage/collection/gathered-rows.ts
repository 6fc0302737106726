// Reads, inserts and deletes the rows of concurrent writes with one statement each (PostgreSQL): statements cost more than rows.
import { isDeepStrictEqual } from "node:util";
import { ConcurrencyConflict } from "../engine/errors.ts";
import { jsonRows, selectRows } from "../engine/json-rows.ts";
import { textPlaceholder } from "../engine/placeholders.ts";
import type { Gather, Prepared, RowLock, Session } from "../engine/session.ts";
import { getTableColumns, sql } from "../schema/drizzle.ts";
import type { Collection, CollectionTables, ResourceRow } from "./collection.ts";

/** Returns the rows with these uids, in the order of the uids. Concurrent writes read and lock their rows together. */
export async function gatherRows<R extends ResourceRow>(
  gather: Gather,
  collection: Collection<R>,
  uids: readonly string[],
  lock: RowLock | undefined,
): Promise<readonly R[]> {
  const read = (session: Session, all: readonly string[]) => readRows<R>(session, collection, all, lock);
  const found = await gather.read(`${collection.kind}.get.${lock ?? "plain"}`, uids, read);
  return uids.flatMap((uid) => found.get(uid) ?? []);
}

async function readRows<R extends ResourceRow>(
  session: Session,
  collection: CollectionTables,
  uids: readonly string[],
  lock: RowLock | undefined,
): Promise<ReadonlyMap<string, R>> {
  const statement = session.prepared(`${collection.kind}.get_all.${lock ?? "plain"}`, (db, tables) => {
    const table = collection.rows(tables);
    const select = db
      .select()
      .from(table)
      .where(session.isAmong(table.uid, textPlaceholder("uids")))
      // All writers lock rows in this order, which prevents deadlocks.
      .orderBy(table.uid);
    return lock ? select.for(lock) : select;
  });
  const rows = await (statement as unknown as Prepared<R[]>).execute({ uids: JSON.stringify(uids) });
  return new Map(rows.map((row) => [row.uid, row]));
}

/** Inserts rows. Throws UniqueViolation or ReferenceViolation. */
export async function insertRows(
  session: Session,
  collection: CollectionTables,
  rows: readonly ResourceRow[],
): Promise<void> {
  const statement = session.prepared(`${collection.kind}.insert_all`, (db, tables) => {
    const table = collection.rows(tables);
    return db.insert(table).select(selectRows(getTableColumns(table)));
  });
  await statement.execute({ rows: jsonRows(getTableColumns(collection.rows(session.tables)), rows) });
}

/** Deletes rows, as they were read. Throws ConcurrencyConflict, and ReferenceViolation if another row still refers to one of them. */
export async function deleteRows<R extends ResourceRow>(
  session: Session,
  collection: Collection<R>,
  rows: readonly R[],
): Promise<void> {
  const statement = session.prepared(`${collection.kind}.delete_all`, (db, tables) => {
    const table = collection.rows(tables);
    return db
      .delete(table)
      .where(session.isAmong(table.uid, textPlaceholder("uids")))
      .returning();
  });
  const uids = JSON.stringify(rows.map(({ uid }) => uid));
  const deleted = await (statement as unknown as Prepared<R[]>).execute({ uids });
  const byUid = new Map(deleted.map((row) => [row.uid, row]));
  for (const row of rows)
    if (!isDeepStrictEqual(byUid.get(row.uid), row))
      throw new ConcurrencyConflict(`${collection.kind} ${row.uid} has changed`);
}

/** Inserts entries. */
export async function insertEntryRows(
  session: Session,
  collection: CollectionTables,
  entries: readonly object[],
): Promise<void> {
  const statement = session.prepared(`${collection.kind}.entries.insert_all`, (db, tables) => {
    const table = collection.entries(tables);
    return db.insert(table).select(selectRows(getTableColumns(table)));
  });
  await statement.execute({ rows: jsonRows(getTableColumns(collection.entries(session.tables)), entries) });
}

/** The key of an entry within its table. */
export interface EntryKey {
  readonly key: string;
  readonly name: string;
  readonly tail: string;
}

/** Deletes entries. */
export async function deleteEntryRows(
  session: Session,
  collection: CollectionTables,
  entries: readonly EntryKey[],
): Promise<void> {
  const columns = () => {
    const { key, name, tail } = collection.entries(session.tables);
    return { key, name, tail };
  };
  const statement = session.prepared(`${collection.kind}.entries.delete_all`, (db, tables) => {
    const { key, name, tail } = collection.entries(tables);
    const table = collection.entries(tables);
    return db.delete(table).where(sql`(${key}, ${name}, ${tail}) in (${selectRows(columns())})`);
  });
  await statement.execute({ rows: jsonRows(columns(), entries) });
}
