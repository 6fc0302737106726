// The column types of PostgreSQL. Their TypeScript type is that of both databases.
import { loadPostgresCore } from "./drizzle.ts";

const pg = loadPostgresCore();

/** Text in byte order, regardless of the collation of the cluster: keyset pagination and prefix ranges depend on it. */
const collatedText = pg.customType<{ data: string; driverData: string }>({ dataType: () => 'text collate "C"' });

/** The functions that declare tables and columns, for PostgreSQL. */
export const postgresColumns = {
  table: pg.pgTable,
  text: () => collatedText(),
  /** An integer up to 2^53; times are milliseconds since the epoch. */
  integer: () => pg.bigint({ mode: "number" }),
  boolean: () => pg.boolean(),
  /** Stored as text to keep the order of arrays and objects. */
  json: <T>() => pg.json().$type<T>(),
  /** A primary key that the database increments. */
  sequence: () => pg.bigint({ mode: "number" }).primaryKey().generatedAlwaysAsIdentity(),
  foreignKey: pg.foreignKey,
  index: pg.index,
  uniqueIndex: pg.uniqueIndex,
  primaryKey: pg.primaryKey,
};

/** The functions that declare tables and columns. The types are those of PostgreSQL: SQLite stores the same values. */
export type Columns = typeof postgresColumns;
