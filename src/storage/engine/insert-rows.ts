// Inserts many rows of one table, with one statement where each costs a round trip.
import type { PgTable } from "drizzle-orm/pg-core";
import { getTableColumns, getTableName } from "../schema/drizzle.ts";
import type { Tables } from "../schema/tables.ts";
import { jsonRows, selectRows } from "./json-rows.ts";
import { placeholders } from "./placeholders.ts";
import type { Transaction } from "./session.ts";

/** Inserts complete rows, and leaves those alone that are there already. */
export async function insertMissingRows(
  tx: Transaction,
  tableOf: (tables: Tables) => PgTable,
  rows: readonly object[],
): Promise<void> {
  if (rows.length === 0) return;
  const table = tableOf(tx.tables);
  const name = getTableName(table);
  const columns = getTableColumns(table);
  if (tx.isRemote) {
    const all = tx.prepared(`${name}.insert_missing_all`, (db) =>
      db.insert(table).select(selectRows(columns)).onConflictDoNothing(),
    );
    await all.execute({ rows: jsonRows(columns, rows) });
    return;
  }
  const one = tx.prepared(`${name}.insert_missing`, (db) =>
    db
      .insert(table)
      .values(placeholders(Object.keys(columns)) as never)
      .onConflictDoNothing(),
  );
  for (const row of rows) await one.execute({ ...row });
}
