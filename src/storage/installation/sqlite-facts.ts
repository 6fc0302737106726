// The version and the size of a SQLite database, in SQL.
import { sql } from "../schema/drizzle.ts";

export const sqliteFacts = {
  version: sql<string>`sqlite_version()`,
  sizeBytes: sql<number>`(select page_count from pragma_page_count) * (select page_size from pragma_page_size)`,
};
