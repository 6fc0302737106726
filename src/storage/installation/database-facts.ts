// The version and the size of the database.

import type { Session } from "../engine/session.ts";
import { sql } from "../schema/drizzle.ts";

const sqliteFacts = {
  version: sql<string>`sqlite_version()`,
  sizeBytes: sql<number>`(select page_count from pragma_page_count) * (select page_size from pragma_page_size)`,
};

/** Facts about the database. */
export interface DatabaseFacts {
  readonly version: string;
  readonly sizeBytes: number;
}

const facts = {
  sqlite: sqliteFacts,
  postgres: {
    version: sql<string>`current_setting('server_version')`,
    sizeBytes: sql<number>`pg_database_size(current_database())`,
  },
} as const;

/** Reads the facts. */
export async function readDatabaseFacts(session: Session): Promise<DatabaseFacts> {
  // The table always has rows: a server stores its issuer there before it listens.
  const statement = session.prepared("installation.facts", (db, { settings }) =>
    db.select(facts[session.dialect]).from(settings).limit(1),
  );
  const [row] = await statement.execute();
  return { version: row!.version, sizeBytes: Number(row!.sizeBytes) };
}
