import { type DatabaseConfig, openConfiguredDatabase, toStorageError } from "../server/open-database.ts";
import type { Database } from "../storage/database.ts";
import { commandDatabaseLimits } from "../storage/engine/dialect.ts";
import type { OpenMode } from "../storage/engine/migrations.ts";

/** Opens the configured database for one command. Throws an error that names it if it cannot be used. */
export async function withDatabase<T>(
  config: DatabaseConfig,
  mode: OpenMode,
  body: (database: Database) => Promise<T>,
): Promise<T> {
  const database = await openConfiguredDatabase(config, commandDatabaseLimits, mode);
  try {
    return await body(database);
  } catch (error) {
    throw toStorageError(config, error);
  } finally {
    await database.close();
  }
}
