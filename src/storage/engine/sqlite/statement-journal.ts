import type BetterSqlite from "better-sqlite3";
import { withPrepare } from "./custom-prepare.ts";

/**
 * Returns a connection on which statements use OR FAIL: what a failed statement has written until then stays
 * (https://sqlite.org/lang_conflict.html).
 *
 * By default, SQLite undoes a statement of several rows if one of them fails, and copies every page that it changes for
 * that; for the entries of a new row this is a third of the time. The write queue undoes a failed write as a whole, so
 * the copies are useless here. Violated foreign keys still undo the statement.
 */
export function withOrFail(connection: BetterSqlite.Database): BetterSqlite.Database {
  return withPrepare(connection, (sql) => connection.prepare(failing(sql)));
}

function failing(sql: string): string {
  return sql.replace(/^(insert|update)\b/i, "$1 or fail");
}
