// The version and the size of the database.

import type { Session } from "../engine/session.ts";

/** Facts about the database. */
export interface DatabaseFacts {
  readonly version: string;
  readonly sizeBytes: number;
}

/** Reads the facts. */
export async function readDatabaseFacts(session: Session): Promise<DatabaseFacts> {
  // The table always has rows: a server stores its issuer there before it listens.
  const statement = session.prepared("installation.facts", (db, { settings }) =>
    db.select(session.facts).from(settings).limit(1),
  );
  const [row] = await statement.execute();
  return { version: row!.version, sizeBytes: Number(row!.sizeBytes) };
}
