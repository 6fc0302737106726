import type pg from "pg";
import type { DatabaseLimits } from "../dialect.ts";
import { newHosts } from "./hosts.ts";
import type { InstallationSchema } from "./installation-schema.ts";
import { connectOnce, requireSamePostgres } from "./migrate.ts";

/** A connection of a copy, with the schema that it reads or fills. */
export interface CopyConnection {
  readonly client: pg.Client;
  readonly schema: InstallationSchema;
}

/**
 * Opens a connection for the statements of a copy, which may take minutes, and may wait for the other database. Throws
 * DatabaseVersionMismatch if another version wrote the database.
 */
export async function connectForCopy(url: string, limits: DatabaseLimits): Promise<CopyConnection> {
  const client = await connectOnce(newHosts(url, limits), limits);
  // A statement that runs, or the next one, reports the error.
  client.on("error", () => {});
  try {
    await client.query(
      `SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0; SET lock_timeout = ${limits.lockTimeoutMs}`,
    );
    return { client, schema: await requireSamePostgres(client) };
  } catch (error) {
    await client.end().catch(() => {});
    throw error;
  }
}
