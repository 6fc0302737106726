// The column types of SQLite. They are cast to the types of PostgreSQL only here, because every table and query is
// written once. Only the dialect in use is loaded.
import type { Columns } from "./columns.postgres.ts";
import { loadSqliteCore } from "./drizzle.ts";

const sqlite = loadSqliteCore();

/** The functions that declare tables and columns, for SQLite. */
export const sqliteColumns = {
  table: sqlite.sqliteTable,
  text: () => sqlite.text(),
  integer: () => sqlite.integer(),
  boolean: () => sqlite.integer({ mode: "boolean" }),
  json: <T>() => sqlite.text({ mode: "json" }).$type<T>(),
  sequence: () => sqlite.integer().primaryKey({ autoIncrement: true }),
  foreignKey: sqlite.foreignKey,
  index: sqlite.index,
  uniqueIndex: sqlite.uniqueIndex,
  primaryKey: sqlite.primaryKey,
} as unknown as Columns;
