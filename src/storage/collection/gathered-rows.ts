// Reads and inserts the rows of concurrent writes with one statement each (PostgreSQL): statements cost more than rows.
import { jsonRows, selectRows } from "../engine/json-rows.ts";
import { textPlaceholder } from "../engine/placeholders.ts";
import type { Prepared, RowLock, Session } from "../engine/session.ts";
import { getTableColumns } from "../schema/drizzle.ts";
import type { CollectionTables, ResourceRow } from "./collection.ts";

/** Returns the rows with these uids, and locks them in the order of their uids, as all writers do. */
export async function keepRows<R extends ResourceRow>(
  session: Session,
  collection: CollectionTables,
  uids: readonly string[],
  lock: RowLock,
): Promise<ReadonlyMap<string, R>> {
  const statement = session.prepared(`${collection.kind}.get_all.${lock}`, (db, tables) => {
    const table = collection.rows(tables);
    return db
      .select()
      .from(table)
      .where(session.isAmong(table.uid, textPlaceholder("uids")))
      .orderBy(table.uid)
      .for(lock);
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
  await statement.execute({ rows: jsonRows(rows) });
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
  await statement.execute({ rows: jsonRows(entries) });
}
