// The vocabulary of columns in both dialects. The two are cast to one type here and nowhere else, so that every table
// and every query is written once.
import * as pg from "drizzle-orm/pg-core";
import * as sqlite from "drizzle-orm/sqlite-core";

/** Text in byte order whatever the collation of the cluster: keyset pages and prefix ranges depend on it. */
const collatedText = pg.customType<{ data: string; driverData: string }>({ dataType: () => 'text collate "C"' });

export const postgresColumns = {
  table: pg.pgTable,
  text: () => collatedText(),
  /** A whole number up to 2^53; times are milliseconds since the epoch. */
  integer: () => pg.bigint({ mode: "number" }),
  boolean: () => pg.boolean(),
  /** Kept as text, so that lists and maps come back in the order in which they were given. */
  json: <T>() => pg.json().$type<T>(),
  /** A number that the database counts up by itself. */
  sequence: () => pg.bigint({ mode: "number" }).primaryKey().generatedAlwaysAsIdentity(),
  foreignKey: pg.foreignKey,
  index: pg.index,
  uniqueIndex: pg.uniqueIndex,
  primaryKey: pg.primaryKey,
};

export type Columns = typeof postgresColumns;

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
