// SQLite: one write connection behind a queue, one read connection, both in WAL mode.
import { chmodSync, closeSync, existsSync, mkdirSync, openSync } from "node:fs";
import { open } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import BetterSqlite from "better-sqlite3";
import { createCheckpointer } from "./checkpointer.ts";
import type { DatabaseLimits, Dialect } from "./dialect.ts";
import { loadSqliteDriver } from "./drizzle.ts";
import { refuseNewer } from "./migrations.ts";
import { newSession, type Prepared, type Queries, type Runner, type Session } from "./session.ts";
import { createSnapshot, type Snapshot } from "./snapshot.ts";
import { runNow } from "./sqlite-statement.ts";
import { sqliteDialect } from "./tables.sqlite.ts";
import { createWriteQueue } from "./write-queue.ts";

const { drizzle, migrate } = loadSqliteDriver();
const migrationsFolder = fileURLToPath(new URL("./migrations/sqlite", import.meta.url));

/** How much of the file reads may map. */
const mappedBytes = 2 ** 30;

/** Opens or creates the database file and brings it up to date. */
export async function openSqlite(file: string, limits: DatabaseLimits): Promise<Dialect> {
  const writer = openWriter(file, limits);
  const reader = connect(file, limits, true);
  const snapshot = createSnapshot(reader);
  const readSession = sessionOf(reader, (statement) => opening(snapshot, runNow(statement)));
  // One writer at a time: sequence numbers are in the order of commits anyway.
  const transaction = { ...sessionOf(writer, runNow), lockChanges: async () => {} };
  const wal = await open(`${file}-wal`, "r+");
  const checkpointer = createCheckpointer(file);
  const flush = coalesce(() => wal.datasync());
  const queue = createWriteQueue(writer, {
    ...limits,
    room: checkpointer.room,
    beforeCommit: snapshot.end,
    sync() {
      checkpointer.afterCommit();
      return flush();
    },
  });

  return {
    name: "sqlite",
    session: readSession,
    read: (body) => snapshot.share(() => body(readSession)),
    write: (body) => queue.run(() => body(transaction)),
    async check() {
      reader.prepare("SELECT 1").get();
    },
    async close() {
      await queue.idle();
      await checkpointer.close();
      await wal.close();
      reader.close();
      writer.close();
    },
  };
}

function openWriter(file: string, limits: DatabaseLimits): BetterSqlite.Database {
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  // The file holds signing keys; the files that SQLite puts beside it take over its mode. One that exists is not
  // opened: to close it would take away the locks that another connection of this process has on it.
  if (!existsSync(file)) closeSync(openSync(file, "a", 0o600));
  chmodSync(file, 0o600);
  const writer = connect(file, limits);
  try {
    migrateFile(writer);
  } catch (error) {
    writer.close();
    throw error;
  }
  // From here on a lock that another process holds is waited for by the queue, which does not block the event loop.
  writer.pragma("busy_timeout = 0");
  // Left to itself, SQLite flushes the log and the file in the middle of a commit.
  writer.pragma("wal_autocheckpoint = 0");
  return writer;
}

function connect(file: string, limits: DatabaseLimits, readonly = false): BetterSqlite.Database {
  const connection = new BetterSqlite(file, { readonly, timeout: limits.lockTimeoutMs });
  if (!readonly) connection.pragma("journal_mode = WAL");
  // A commit is flushed by the queue, away from the event loop, before it is acknowledged.
  connection.pragma("synchronous = NORMAL");
  connection.pragma("foreign_keys = ON");
  connection.pragma("trusted_schema = OFF");
  // What a savepoint may have to put back is kept in memory rather than in a temporary file.
  connection.pragma("temp_store = MEMORY");
  // KiB. Reads take pages from the mapped file, whose memory belongs to the system's cache and not to the process.
  connection.pragma("cache_size = -8192");
  if (readonly) connection.pragma(`mmap_size = ${mappedBytes}`);
  return connection;
}

function migrateFile(connection: BetterSqlite.Database): void {
  const db = drizzle(connection, { casing: "snake_case" });
  try {
    migrate(db, { migrationsFolder });
  } catch {
    // Another process may have migrated the file in between; what fails for any other reason fails again.
    if (connection.inTransaction) connection.exec("ROLLBACK");
    migrate(db, { migrationsFolder });
  }
  const applied = connection.prepare("SELECT max(created_at) FROM __drizzle_migrations").pluck().get();
  refuseNewer(migrationsFolder, Number(applied));
}

function sessionOf(connection: BetterSqlite.Database, runner: Runner): Session {
  return newSession(drizzle(connection, { casing: "snake_case" }) as unknown as Queries, sqliteDialect, runner);
}

/** A statement that begins the snapshot that it reads from. */
function opening<T>(snapshot: Snapshot, statement: Prepared<T>): Prepared<T> {
  return {
    execute(values) {
      snapshot.open();
      return statement.execute(values);
    },
  };
}

/** Runs at most one flush at a time; whoever comes meanwhile shares the next one. */
function coalesce(flush: () => Promise<void>): () => Promise<void> {
  let latest = Promise.resolve();
  let next: Promise<void> | undefined;
  return () => {
    next ??= latest
      .catch(() => {})
      .then(() => {
        next = undefined;
        latest = flush();
        return latest;
      });
    return next;
  };
}
