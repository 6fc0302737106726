import type BetterSqlite from "better-sqlite3";
import { withPrepare } from "./custom-prepare.ts";

/**
 * The connection, with statements that fail as FAIL has it: what a statement has written until then stays
 * (https://sqlite.org/lang_conflict.html).
 *
 * By default SQLite takes back what a statement of several rows has written when one of them fails, and keeps every page that it
 * changes for that; for the entries of a new row this is a third of the time. Here a write that fails is taken back as a whole, by
 * the queue, so nothing is gained by it. Foreign keys are as they were: they always take back the statement.
 */
export function withOrFail(connection: BetterSqlite.Database): BetterSqlite.Database {
  return withPrepare(connection, (sql) => connection.prepare(failing(sql)));
}

function failing(sql: string): string {
  return sql.replace(/^(insert|update)\b/i, "$1 or fail");
}
