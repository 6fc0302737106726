// The vocabulary of columns in PostgreSQL. Its type is that of both dialects.
import { loadPostgresCore } from "./drizzle.ts";

const pg = loadPostgresCore();

/** Text in byte order whatever the collation of the cluster: keyset pages and prefix ranges depend on it. */
const collatedText = pg.customType<{ data: string; driverData: string }>({ dataType: () => 'text collate "C"' });

/** What tables are declared with, for PostgreSQL. */
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

/** What tables are declared with. PostgreSQL gives the types: SQLite stores the same. */
export type Columns = typeof postgresColumns;
