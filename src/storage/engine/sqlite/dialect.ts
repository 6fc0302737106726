import { sql } from "../../schema/drizzle.ts";
import { sqliteTables } from "../../schema/tables.sqlite.ts";
import type { SessionDialect } from "../session.ts";

/** SQLite's part of a session: tables, and expressions in its SQL. */
export const sqliteDialect: SessionDialect = {
  dialect: "sqlite",
  product: "SQLite",
  isRemote: false,
  keepsTextIndex: false,
  facts: {
    version: sql<string>`sqlite_version()`,
    sizeBytes: sql<number>`(select page_count from pragma_page_count) * (select page_size from pragma_page_size)`,
  },
  textLocks: undefined,
  tables: sqliteTables,
  textsOf: (list) => sql`json_each(${list})`,
  membersOf: (object) => sql`json_each(${object})`,
  isAmong: (value, list) => sql`${value} in (select value from json_each(${list}))`,
  isAmongNumbers: (value, list) => sql`${value} in (select value from json_each(${list}))`,
};
