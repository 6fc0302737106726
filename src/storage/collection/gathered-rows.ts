// Reads and inserts the rows of concurrent writes with one statement each (PostgreSQL): statements cost more than rows.
import { jsonRows, selectRows } from "../engine/json-rows.ts";
import { textPlaceholder } from "../engine/placeholders.ts";
import type { Gather, Prepared, RowLock, Session } from "../engine/session.ts";
import { getTableColumns } from "../schema/drizzle.ts";
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
