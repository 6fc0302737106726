// Migrates a PostgreSQL database, one server at a time.
import pg from "pg";
import { programFile } from "../../../base/program-file.ts";
import { loadPostgresDriver } from "../../schema/drizzle.ts";
import type { DatabaseLimits, OpenMode } from "../dialect.ts";
import { DatabaseMissing, StorageUnavailable } from "../errors.ts";
import { isLatest, type MigrationListener, refuseNewer, refuseOlder, watchMigrations } from "../migrations.ts";
import { applicationName } from "./pool.ts";
import { refuseStandby, type WritableRow, writableQuery } from "./writability.ts";

const { drizzle, migrate } = loadPostgresDriver();
const migrationsFolder = programFile("storage/schema/migrations/postgres");

/** The name of an advisory lock. */
const migrationLock = 7_301_001;

/** Uses a separate connection, because a migration may take longer than the statement timeout. */
export async function migrateUnderLock(
  url: string,
  limits: DatabaseLimits,
  mode: OpenMode,
  onMigrated: MigrationListener,
): Promise<void> {
  const client = await connectOnce(url, limits);
  try {
    const applied = await appliedTo(client);
    if (mode === "existing" && applied === undefined) throw new DatabaseMissing("it has no tables of Gatehouse");
    if (isLatest(migrationsFolder, applied)) return;
    await client.query(`SELECT pg_advisory_lock(${migrationLock})`);
    // Another server may have migrated the database while this one waited for the lock.
    const current = await appliedTo(client);
    refuseOlder(migrationsFolder, current);
    const report = watchMigrations(migrationsFolder, current, onMigrated);
    await migrate(drizzle(client, { casing: "snake_case" }), { migrationsFolder });
    refuseNewer(migrationsFolder, await appliedTo(client));
    report();
  } finally {
    await client.end();
  }
}

async function connectOnce(url: string, limits: DatabaseLimits): Promise<pg.Client> {
  let client: pg.Client | undefined;
  try {
    client = new pg.Client({
      connectionString: url,
      connectionTimeoutMillis: limits.lockTimeoutMs,
      keepAlive: true,
      application_name: applicationName,
    });
    await client.connect();
    refuseStandby((await client.query<WritableRow>(writableQuery)).rows[0]);
    return client;
  } catch (cause) {
    await client?.end().catch(() => {});
    throw new StorageUnavailable("no connection to the database could be had", { cause });
  }
}

/** Returns the time of the latest migration of the database, or undefined if there is none. */
async function appliedTo(client: pg.Client): Promise<number | undefined> {
  const { rows } = await client.query<{ found: boolean }>(
    "SELECT to_regclass('drizzle.__drizzle_migrations') IS NOT NULL AS found",
  );
  if (!rows[0]?.found) return undefined;
  const latest = await client.query<{ at: string | null }>(
    "SELECT max(created_at) AS at FROM drizzle.__drizzle_migrations",
  );
  return latest.rows[0]?.at ? Number(latest.rows[0].at) : undefined;
}
