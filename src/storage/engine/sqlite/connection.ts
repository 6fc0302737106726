// Connections to a SQLite file.
import { chmodSync, closeSync, existsSync, openSync } from "node:fs";
import path from "node:path";
import type BetterSqlite from "better-sqlite3";
import { makeDirectory } from "../../../base/directories.ts";
import { once } from "../../../base/lazy.ts";
import { loadSqliteDriver } from "../../schema/drizzle.ts";
import type { DatabaseLimits } from "../dialect.ts";
import type { MigrationListener, OpenMode } from "../migrations.ts";
import { keptLogBytes } from "./checkpointer.ts";
import { migrateFile } from "./migrate-file.ts";
import { retryWhileLocked } from "./retry-locked.ts";

/** Loads better-sqlite3 and its Drizzle driver on first use. */
export const driver = once(loadSqliteDriver);

/** How many bytes of the file a connection may map into memory. */
const mappedBytes = 2 ** 30;

/**
 * The page cache of the write connection. The pages that a large commit changes should fit. A larger one stays full of pages that nobody
 * needs, and SQLite walks through all of it at commits that had to move rows in an index, as random keys do.
 */
const writerCacheKib = 32 * 1024;

/** Closes a connection. */
export function closeConnection(connection: BetterSqlite.Database): void {
  connection.close();
}

/** Opens the write connection. Creates the file if it does not exist, and migrates it. */
export async function openWriter(
  file: string,
  limits: DatabaseLimits,
  mode: OpenMode,
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
    migrateFile(writer, mode, onMigrated);
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

/** Opens a connection with the settings that all connections share. */
export function connect(file: string, limits: DatabaseLimits, readonly = false): BetterSqlite.Database {
  const connection = new (driver().BetterSqlite)(file, { readonly, timeout: limits.lockTimeoutMs });
  for (const pragma of readonly ? readerPragmas : commonPragmas) connection.pragma(pragma);
  return connection;
}

/** The settings that all connections share. */
const commonPragmas: readonly string[] = [
  // The queue flushes a commit before it acknowledges it, off the event loop.
  "synchronous = NORMAL",
  "foreign_keys = ON",
  "trusted_schema = OFF",
  // In KiB. Pages are read from the mapped file, which the system caches outside of the process.
  "cache_size = -8192",
  `mmap_size = ${mappedBytes}`,
];

/** The settings of connections that only read. */
export const readerPragmas: readonly string[] = [
  ...commonPragmas,
  // Not for the write connection: each statement in a savepoint then walks through all that the savepoint has copied.
  "temp_store = MEMORY",
];
