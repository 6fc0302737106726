// The vocabulary of columns in SQLite, cast to the type of PostgreSQL's here and nowhere else, so that every table and every
// query is written once. Only the dialect in use is loaded.
import type { Columns } from "./columns.postgres.ts";
import { loadSqliteCore } from "./drizzle.ts";

const sqlite = loadSqliteCore();

/** What tables are declared with, for SQLite. */
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
