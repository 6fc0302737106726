// Loads Drizzle as CommonJS. Node reads its package.json of 180 kB again for each of its ES modules, which takes most
// of a start; as CommonJS they load in a tenth of the time.
import { createRequire } from "node:module";

const load = createRequire(import.meta.url);

export const {
  Column,
  Param,
  Placeholder,
  aliasedTable,
  and,
  asc,
  between,
  count,
  countDistinct,
  desc,
  eq,
  exists,
  getTableColumns,
  getTableName,
  gt,
  gte,
  inArray,
  is,
  isNotNull,
  isNull,
  lt,
  lte,
  ne,
  not,
  notExists,
  or,
  sql,
}: typeof import("drizzle-orm") = load("drizzle-orm");

export const { DrizzleError, DrizzleQueryError }: typeof import("drizzle-orm/errors") = load("drizzle-orm/errors");

/** Loads the column and table types of SQLite. */
export function loadSqliteCore(): typeof import("drizzle-orm/sqlite-core") {
  return load("drizzle-orm/sqlite-core");
}

/** Loads the column and table types of PostgreSQL. */
export function loadPostgresCore(): typeof import("drizzle-orm/pg-core") {
  return load("drizzle-orm/pg-core");
}

/** Loads the functions that convert the names of columns. */
export function loadCasing(): typeof import("drizzle-orm/casing") {
  return load("drizzle-orm/casing");
}

/** Loads better-sqlite3 and its Drizzle driver. */
export function loadSqliteDriver() {
  const BetterSqlite: typeof import("better-sqlite3") = load("better-sqlite3");
  const { drizzle }: typeof import("drizzle-orm/better-sqlite3") = load("drizzle-orm/better-sqlite3");
  return { BetterSqlite, drizzle };
}

/** Loads the Drizzle driver for node-postgres. */
export function loadPostgresDriver() {
  const { drizzle }: typeof import("drizzle-orm/node-postgres") = load("drizzle-orm/node-postgres");
  return { drizzle };
}
