import type { Config } from "../config.ts";
import { type Database, openDatabase } from "../storage/database.ts";
import { defaultDatabaseLimits } from "../storage/dialect.ts";

/** Opens the configured database for the time of one command. */
export async function withDatabase<T>(config: Config, body: (database: Database) => Promise<T>): Promise<T> {
  // A check reads everything there is; nobody waits for it.
  const database = await openDatabase(config.databaseUrl, { ...defaultDatabaseLimits, statementTimeoutMs: 0 });
  try {
    return await body(database);
  } finally {
    await database.close();
  }
}
