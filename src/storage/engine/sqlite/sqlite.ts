// SQLite: one write connection with a queue, and one read connection, both in WAL mode.
import { chmodSync, closeSync, existsSync, openSync, statSync } from "node:fs";
import { open as openFile } from "node:fs/promises";
import path from "node:path";
import type BetterSqlite from "better-sqlite3";
import { makeDirectory } from "../../../base/directories.ts";
import { once } from "../../../base/lazy.ts";
import { loadSqliteDriver } from "../../schema/drizzle.ts";
import { newCounterChanges } from "../counters.ts";
import type { DatabaseLimits, Dialect, OpenMode } from "../dialect.ts";
import { DatabaseMissing } from "../errors.ts";
import { changeExportStates } from "../export-states.ts";
import type { MigrationListener } from "../migrations.ts";
import { newSession, type Prepared, type Queries, type Runner, type Session } from "../session.ts";
import { keptLogBytes, newCheckpointer } from "./checkpointer.ts";
import { newFileCheck } from "./database-files.ts";
import { sqliteDialect } from "./dialect.ts";
import { translateSqliteError } from "./errors.ts";
import { migrateFile } from "./migrate-file.ts";
import { retryWhileLocked } from "./retry-locked.ts";
import { newSnapshot, type Snapshot } from "./snapshot.ts";
import { runSync } from "./statement.ts";
import { withOrFail } from "./statement-journal.ts";
import { WriteQueue } from "./write-queue.ts";

const driver = once(loadSqliteDriver);

/** How many bytes of the file a connection may map into memory. */
const mappedBytes = 2 ** 30;

/** The page cache of the write connection. The pages that an import changes within two seconds fit. */
const writerCacheKib = 128 * 1024;

/**
 * Opens or, depending on the mode, creates the database file, and migrates it. Rejects with the errors of errors.ts.
 */
export async function openSqlite(
  file: string,
  limits: DatabaseLimits,
  mode: OpenMode,
  onMigrated: MigrationListener,
): Promise<Dialect> {
  // An empty file is left if creating a database was interrupted.
  if (mode === "existing" && !(existsSync(file) && statSync(file).size > 0)) throw new DatabaseMissing(file);
  try {
    return await open(file, limits, onMigrated);
  } catch (error) {
    throw translateSqliteError(error);
  }
}

async function open(file: string, limits: DatabaseLimits, onMigrated: MigrationListener): Promise<Dialect> {
  await using opened = new AsyncDisposableStack();
  const writer = opened.adopt(await openWriter(file, limits, onMigrated), closeConnection);
  const reader = opened.adopt(connect(file, limits, true), closeConnection);
  const snapshot = newSnapshot(reader);
  const readSession: Session = {
    ...sessionOf(reader, (statement) => opening(snapshot, runSync(statement))),
    dataVersion: snapshot.dataVersion,
  };
  // There is one writer at a time: tables need no locks, and sequence numbers follow commit order.
  const pendingCounters = newCounterChanges();
  const pendingExports = new Set<string>();
  const transaction = {
    ...sessionOf(withOrFail(writer), runSync),
    pendingCounters,
    pendingExports,
    lockTables: async () => {},
    lockChanges: async () => {},
  };
  const wal = opened.use(await openFile(`${file}-wal`, "r+"));
  const checkpointer = newCheckpointer(file);
  opened.defer(checkpointer.close);
  const checkFiles = newFileCheck(file);
  const queue = new WriteQueue(writer, {
    ...limits,
    waitForRoom: checkpointer.waitForRoom,
    afterFull: checkpointer.afterFull,
    afterFailedFlush: checkpointer.afterFailedFlush,
    readTicks: snapshot.ticks,
    begin() {
      pendingCounters.clear();
      pendingExports.clear();
    },
    async finish() {
      await pendingCounters.write(transaction);
      await changeExportStates(transaction, pendingExports);
    },
    beforeCommit: snapshot.end,
    sync() {
      checkpointer.afterCommit();
      return wal.datasync();
    },
    check: checkFiles,
  });

  const everything = opened.move();
  return {
    name: "sqlite",
    session: readSession,
    read: (body) => snapshot.share(() => body(readSession)),
    write: (body, isBulk) => queue.run(() => body(transaction), isBulk),
    async check() {
      reader.prepare("SELECT 1").get();
      checkFiles();
    },
    async close() {
      await queue.idle();
      await everything.disposeAsync();
    },
  };
}

function closeConnection(connection: BetterSqlite.Database): void {
  connection.close();
}

async function openWriter(
  file: string,
  limits: DatabaseLimits,
  onMigrated: MigrationListener,
): Promise<BetterSqlite.Database> {
  makeDirectory(path.dirname(file));
  // The file holds signing keys. SQLite gives the same mode to its other files. An existing file is not opened here:
  // closing it would drop the locks of other connections in this process.
  if (!existsSync(file)) closeSync(openSync(file, "a", 0o600));
  chmodSync(file, 0o600);
  const writer = connect(file, limits);
  try {
    // If two processes open a new file at the same time, one gets SQLITE_BUSY immediately.
    await retryWhileLocked(() => writer.pragma("journal_mode = WAL"), limits.lockTimeoutMs);
    migrateFile(writer, driver(), onMigrated);
  } catch (error) {
    writer.close();
    throw error;
  }
  // From here on the queue waits for locks of other processes, without blocking the event loop.
  writer.pragma("busy_timeout = 0");
  // By default, SQLite checkpoints during a commit.
  writer.pragma("wal_autocheckpoint = 0");
  writer.pragma(`journal_size_limit = ${keptLogBytes}`);
  // Changed pages that do not fit are written before the end of their transaction, often twice.
  writer.pragma(`cache_size = -${writerCacheKib}`);
  return writer;
}

function connect(file: string, limits: DatabaseLimits, readonly = false): BetterSqlite.Database {
  const connection = new (driver().BetterSqlite)(file, { readonly, timeout: limits.lockTimeoutMs });
  // The queue flushes a commit before it acknowledges it, off the event loop.
  connection.pragma("synchronous = NORMAL");
  connection.pragma("foreign_keys = ON");
  connection.pragma("trusted_schema = OFF");
  // Keeps the data of savepoints in memory rather than in a temporary file.
  connection.pragma("temp_store = MEMORY");
  // In KiB. Pages are read from the mapped file, which the system caches outside of the process.
  connection.pragma("cache_size = -8192");
  connection.pragma(`mmap_size = ${mappedBytes}`);
  return connection;
}

function sessionOf(connection: BetterSqlite.Database, runner: Runner): Session {
  return newSession(
    driver().drizzle(connection, { casing: "snake_case" }) as unknown as Queries,
    sqliteDialect,
    runner,
  );
}

/** Wraps a statement so that it begins the snapshot that it reads from. */
function opening<T>(snapshot: Snapshot, statement: Prepared<T>): Prepared<T> {
  return {
    execute(values) {
      snapshot.open();
      return statement.execute(values);
    },
  };
}
