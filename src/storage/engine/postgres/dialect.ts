import { sql } from "../../schema/drizzle.ts";
import { postgresTables } from "../../schema/tables.postgres.ts";
import type { SessionDialect } from "../session.ts";

/** PostgreSQL's part of a session: tables, and expressions in its SQL. */
export const postgresDialect: SessionDialect = {
  dialect: "postgres",
  product: "PostgreSQL",
  isRemote: true,
  keepsTextIndex: true,
  facts: {
    version: sql<string>`current_setting('server_version')`,
    sizeBytes: sql<number>`pg_database_size(current_database())`,
  },
  textLocks: {
    exclusive: sql`pg_advisory_xact_lock`,
    shared: sql`pg_advisory_xact_lock_shared`,
    tryExclusive: sql`pg_try_advisory_xact_lock`,
  },
  tables: postgresTables,
  textsOf: (list) => sql`json_array_elements_text(cast(${list} as json))`,
  membersOf: (object) => sql`json_each_text(cast(${object} as json))`,
  // For a subquery, PostgreSQL estimates more rows, and may scan a whole subtree to compare it with them.
  isAmong: (value, list) => sql`${value} = any(array(select json_array_elements_text(cast(${list} as json))))`,
  isAmongNumbers: (value, list) =>
    sql`${value} = any(array(select cast(item as bigint) from json_array_elements_text(cast(${list} as json)) as items(item)))`,
};
