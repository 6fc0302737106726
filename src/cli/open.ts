import type { Config } from "../config.ts";
import { type Database, isPostgresUrl, openDatabase } from "../storage/database.ts";
import { commandDatabaseLimits } from "../storage/dialect.ts";
import { StorageDamaged } from "../storage/errors.ts";
import { CommandFailure } from "./failure.ts";

/** Opens the configured database for the time of one command. A damaged one is a CommandFailure. */
export async function withDatabase<T>(config: Config, body: (database: Database) => Promise<T>): Promise<T> {
  return await namingDamage(config, async () => {
    const database = await openDatabase(config.databaseUrl, commandDatabaseLimits);
    try {
      return await body(database);
    } finally {
      await database.close();
    }
  });
}

/** Has whoever works on a damaged database told which one it is; the URL of a server may hold a password. */
export async function namingDamage<T>({ databaseUrl }: Config, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    if (!(error instanceof StorageDamaged)) throw error;
    const name = isPostgresUrl(databaseUrl) ? "the database" : `the database file ${databaseUrl}`;
    const reason = error.cause instanceof Error ? `: ${error.cause.message}` : "";
    throw new CommandFailure(`${name} is damaged${reason}`, { hint: "Restore a backup." });
  }
}
