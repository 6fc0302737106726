// Migrates a PostgreSQL database, one server at a time.
import { setTimeout } from "node:timers/promises";
import pg from "pg";
import { programFile } from "../../../base/program-file.ts";
import { getTableName } from "../../schema/drizzle.ts";
import { postgresTables } from "../../schema/tables.postgres.ts";
import type { DatabaseLimits } from "../dialect.ts";
import { driverCode, StorageUnavailable } from "../errors.ts";
import {
  type AppliedMigration,
  compatibleSinceSetting,
  isNewer,
  type Migration,
  type MigrationListener,
  type OpenMode,
  pendingMigrations,
  requireMode,
  requireSame,
  type SchemaState,
} from "../migrations.ts";
import { applicationName } from "./connections.ts";
import { type Hosts, newHosts } from "./hosts.ts";
import { findInstallationSchema, type InstallationSchema } from "./installation-schema.ts";
import { checkRights, migrationError, requireCreate, requireRights } from "./rights.ts";
import { refuseStandby, type WritableRow, writableQuery } from "./writability.ts";

/** The number of an advisory lock; `InstallationSchema.lockKey` makes its key. */
const migrationLock = 7_301_001;

/** How often a migration waits for the locks of tables, and the pause in which other statements get them. */
const lockAttempts = 20;
const lockPauseMs = 500;

/** A database, and the folder of its migrations. */
export interface MigrationTarget {
  readonly hosts: Hosts;
  readonly limits: DatabaseLimits;
  readonly folder?: string;
}

const defaultFolder = programFile("storage/schema/migrations/postgres");

/**
 * Applies pending migrations, if the mode allows it, and returns the schema of the installation. Throws DatabaseVersionMismatch,
 * DatabaseMissing and DatabaseUnsuitable.
 */
export async function migratePostgres(
  { hosts, limits, folder = defaultFolder }: MigrationTarget,
  mode: OpenMode,
  onMigrated: MigrationListener,
): Promise<InstallationSchema> {
  // A separate connection, because a migration may take longer than the statement timeout.
  return await withClient(hosts, limits, async (client) => {
    const schema = await findInstallationSchema(client);
    const state = await schemaState(client, folder, schema);
    const pending = pendingMigrations(folder, state);
    requireMode(mode, state, pending);
    const applied: AppliedMigration[] = [];
    if (pending.length > 0)
      for (let next = await applyNext(client, folder, limits); next; next = await applyNext(client, folder, limits))
        applied.push(next);
    if (applied.length > 0) onMigrated(applied, state.applied === undefined);
    // Commands that open an existing database may only read.
    if (mode !== "existing") await checkRights(client, schema, tableNames());
    return schema;
  });
}

function tableNames(): string[] {
  return Object.values(postgresTables).map((table) => getTableName(table));
}

/** Returns the migrations that the database lacks. Throws DatabaseVersionMismatch and DatabaseUnsuitable. */
export async function pendingPostgresMigrations(url: string, limits: DatabaseLimits): Promise<readonly Migration[]> {
  return await withClient(newHosts(url, limits), limits, async (client) =>
    pendingMigrations(defaultFolder, await schemaState(client, defaultFolder, await findInstallationSchema(client))),
  );
}

/**
 * Returns the schema of the installation. Throws DatabaseVersionMismatch unless it has the migrations of this version and no
 * others.
 */
export async function requireSamePostgres(client: pg.Client): Promise<InstallationSchema> {
  const schema = await findInstallationSchema(client);
  requireSame(defaultFolder, await schemaState(client, defaultFolder, schema));
  return schema;
}

/**
 * Applies the first pending migration in a transaction of its own. Every statement of a running server queues behind
 * a migration that waits for the lock of its table, so the migration stops waiting and tries again.
 */
async function applyNext(
  client: pg.Client,
  folder: string,
  limits: DatabaseLimits,
): Promise<AppliedMigration | undefined> {
  const schema = await findInstallationSchema(client);
  for (let attempt = 1; ; attempt++) {
    try {
      return await inTransaction(client, () => applyFirstPending(client, folder, limits, schema));
    } catch (error) {
      if (driverCode(error) !== lockNotAvailable || attempt === lockAttempts) throw migrationError(error, schema);
      await setTimeout(lockPauseMs);
    }
  }
}

const lockNotAvailable = "55P03";

async function applyFirstPending(
  client: pg.Client,
  folder: string,
  limits: DatabaseLimits,
  { lockKey }: InstallationSchema,
): Promise<AppliedMigration | undefined> {
  // Of the transaction and not of the session: a transaction pooler may give each transaction another session.
  await client.query(`SELECT pg_advisory_xact_lock(${lockKey(migrationLock)})`);
  // Another server may have migrated the database while this one waited.
  const schema = await findInstallationSchema(client);
  const [next] = pendingMigrations(folder, await schemaState(client, folder, schema));
  if (!next) return undefined;
  requireCreate(schema);
  const startedAt = performance.now();
  await client.query(`SET LOCAL lock_timeout = ${limits.lockTimeoutMs}`);
  // New tables belong to the others, also where another schema precedes theirs in the search path.
  await client.query(
    "SELECT set_config('search_path', concat_ws(', ', $1::text, nullif(current_setting('search_path'), '')), true)",
    [pg.escapeIdentifier(schema.name)],
  );
  const { migrationsTable } = schema;
  await client.query(
    `CREATE TABLE IF NOT EXISTS ${migrationsTable} (id SERIAL PRIMARY KEY, hash text NOT NULL, created_at bigint)`,
  );
  for (const statement of next.statements) await client.query(statement);
  await client.query(`INSERT INTO ${migrationsTable} (hash, created_at) VALUES ($1, $2)`, [next.digest, next.when]);
  return { name: next.name, durationMs: Math.round(performance.now() - startedAt) };
}

async function inTransaction<T>(client: pg.Client, body: () => Promise<T>): Promise<T> {
  await client.query("BEGIN");
  try {
    const result = await body();
    await client.query("COMMIT");
    return result;
  } catch (error) {
    await client.query("ROLLBACK").catch(() => {});
    throw error;
  }
}

async function withClient<T>(
  hosts: Hosts,
  limits: DatabaseLimits,
  body: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = await connectOnce(hosts, limits);
  try {
    return await body(client);
  } finally {
    await client.end();
  }
}

/** Connects without a pool to the host that accepts writes. Rejects with StorageUnavailable. */
export async function connectOnce(hosts: Hosts, limits: DatabaseLimits): Promise<pg.Client> {
  await hosts.choose();
  let client: pg.Client | undefined;
  try {
    client = new pg.Client({
      connectionString: hosts.current().url,
      connectionTimeoutMillis: limits.connectTimeoutMs,
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

async function schemaState(client: pg.Client, folder: string, schema: InstallationSchema): Promise<SchemaState> {
  if (schema.isNew) return { applied: undefined, compatibleSince: undefined };
  requireRights(schema, schema.mayRead ? [] : ["settings"]);
  const latest = await client.query<{ at: string | null }>(
    `SELECT max(created_at) AS at FROM ${schema.migrationsTable}`,
  );
  const applied = latest.rows[0]?.at ? Number(latest.rows[0].at) : undefined;
  return { applied, compatibleSince: isNewer(folder, applied) ? await compatibleSince(client) : undefined };
}

async function compatibleSince(client: pg.Client): Promise<string | undefined> {
  const { rows } = await client.query<{ value: string }>("SELECT value FROM settings WHERE name = $1", [
    compatibleSinceSetting,
  ]);
  return rows[0]?.value;
}
