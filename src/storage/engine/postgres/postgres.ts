// PostgreSQL: a pool, ordinary transactions, and statements that are prepared once per connection.
import pg from "pg";
import { programFile } from "../../../base/program-file.ts";
import { getTableName, loadPostgresDriver } from "../../schema/drizzle.ts";
import { newCounterChanges } from "../counters.ts";
import type { DatabaseHooks, DatabaseLimits, Dialect, DialectTransaction, OpenMode } from "../dialect.ts";
import { ConcurrencyConflict, DatabaseMissing, driverCode, ReferenceViolation, StorageUnavailable } from "../errors.ts";
import { isLatest, type MigrationListener, refuseNewer, refuseOlder, watchMigrations } from "../migrations.ts";
import { newSemaphore } from "../semaphore.ts";
import { newSession, type Session } from "../session.ts";
import { newDataVersion } from "./data-version.ts";
import { postgresDialect } from "./dialect.ts";
import { translatePostgresError } from "./errors.ts";
import { applicationName, openPool } from "./pool.ts";
import { newSharedSession } from "./shared-session.ts";
import { runAsync } from "./statement.ts";
import { refuseStandby, type WritableRow, writableQuery } from "./writability.ts";
import { type WriteBody, WriteQueue } from "./write-queue.ts";

const { drizzle, migrate } = loadPostgresDriver();
const migrationsFolder = programFile("storage/schema/migrations/postgres");

/** Names of advisory locks; any two constants do. */
const migrationLock = 7_301_001;
const changesLock = 7_301_002;

/** How often a transaction is tried. */
const maxTries = 4;

/** The share of the connections that writes may hold. While they wait for locks, the rest keeps serving reads. */
const writingShare = 3 / 4;

/** Connects, and migrates the database. `onMigrated` is called if migrations were applied. */
export async function openPostgres(
  url: string,
  limits: DatabaseLimits,
  mode: OpenMode,
  { onMigrated, onNewHistory, log }: DatabaseHooks,
): Promise<Dialect> {
  await migrateUnderLock(url, limits, mode, onMigrated);
  const { shared, read, write, check, close } = openPool(url, limits);
  const writers = newSemaphore({
    permits: Math.max(1, Math.floor(limits.poolSize * writingShare)),
    maxWaiting: limits.maxWaiting,
    maxWaitMs: limits.lockTimeoutMs,
  });
  const sessions = new WeakMap<pg.PoolClient, Session>();

  function sessionOf(client: pg.PoolClient): Session {
    let session = sessions.get(client);
    if (!session) {
      session = newSession(drizzle(client, { casing: "snake_case" }), postgresDialect, runAsync);
      sessions.set(client, session);
    }
    return session;
  }

  function runAlone<T>(body: WriteBody<T>): Promise<T> {
    const attempt = (isRetry: boolean) =>
      write("BEGIN", (client) => body(transactionOf(client, sessionOf(client), isRetry)));
    return writers.run(() => retried(attempt));
  }

  const queue = new WriteQueue({
    maxBatch: limits.maxBatch,
    maxWaiting: limits.maxWaiting,
    maxWaitMs: limits.lockTimeoutMs,
    transact: (body) => write(`BEGIN; SET LOCAL lock_timeout = ${batchLockTimeoutMs(limits)}`, body),
    newTransaction: (client) => batchTransactionOf(client, sessionOf(client)),
    async finish(tx) {
      await tx.pendingCounters!.write(tx);
      await log(tx, tx.pendingLog!, tx.pendingExports!);
    },
    runAlone,
    needsRetry,
  });
  const opened = newSharedSession(shared, postgresDialect, sessionOf, () => version.forget());
  const version = newDataVersion(opened.session, onNewHistory);
  // Reports connection errors now, when the database is opened.
  await opened.open().catch(async (error) => {
    await close();
    throw error;
  });

  return {
    name: "postgres",
    session: { ...opened.session, dataVersion: version.current },
    read: (body) => read((client) => body(sessionOf(client))),
    write: (body, { isBulk = false, isIndependent = false }) =>
      isBulk ? runAlone(body) : queue.run(body, isIndependent),
    check,
    async close() {
      await queue.idle();
      opened.release();
      await close();
    },
  };
}

/** How long a batch waits for a lock, in milliseconds. A write that needs longer waits in a transaction of its own. */
function batchLockTimeoutMs({ lockTimeoutMs }: DatabaseLimits): number {
  return Math.min(200, lockTimeoutMs);
}

/** The transaction that the writes of a batch share. */
function batchTransactionOf(client: pg.PoolClient, session: Session): DialectTransaction {
  return {
    ...transactionOf(client, session, false),
    pendingCounters: newCounterChanges(),
    pendingExports: new Set<string>(),
    pendingLog: [],
  };
}

/** A transaction that runs again locks the rows that it reads, so they cannot change a second time. */
function transactionOf(client: pg.PoolClient, session: Session, isRetry: boolean): DialectTransaction {
  return {
    ...session,
    rowLock: "no key update",
    keepLock: "key share",
    ...(isRetry ? { readLock: "no key update" } : {}),
    async lockTables(tables) {
      const names = tables.map((table) => client.escapeIdentifier(getTableName(table)));
      // The weakest mode that excludes other writers, including this one. Reads continue.
      await client.query(`LOCK TABLE ${names.join(", ")} IN SHARE ROW EXCLUSIVE MODE`);
    },
    // Sequence numbers are assigned before the commit: without a lock, a reader could miss the slower of two writers.
    async lockChanges() {
      await client.query({ name: "gatehouse_lock_changes", text: `SELECT pg_advisory_xact_lock(${changesLock})` });
    },
  };
}

async function retried<T>(attempt: (isRetry: boolean) => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt(tries > 1);
    } catch (error) {
      if (tries >= maxTries || !needsRetry(error)) throw translatePostgresError(error);
    }
  }
}

/**
 * Returns whether to run the transaction again: after a serialization failure, a deadlock, a concurrency conflict, or a
 * violated reference. On the next run it sees the rows that other writers committed, and reports what it finds.
 */
function needsRetry(error: unknown): boolean {
  const code = driverCode(error);
  return (
    code === "40001" || code === "40P01" || error instanceof ConcurrencyConflict || error instanceof ReferenceViolation
  );
}

/** Uses a separate connection, because a migration may take longer than the statement timeout. */
async function migrateUnderLock(
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
