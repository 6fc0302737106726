// A lock between processes.
import { errorMessage } from "../base/system-error.ts";
import { CommandFailure } from "./failure.ts";

/** How long to wait for another process, in milliseconds: longer than the time limit of a call. */
const patienceMs = 75_000;

/** Runs the work while holding the lock of a file. Waiting blocks the process, so a process runs one at a time. */
export async function whileLocked<T>(file: string, work: () => Promise<T>): Promise<T> {
  using lock = await openLock(file, patienceMs);
  if (!lock) throw new CommandFailure(`${file} cannot be locked: another process has it`);
  return await work();
}

/**
 * Locks a file, which is created if needed. Returns undefined if another process holds the lock for longer than
 * `waitMs`. Disposing releases it.
 *
 * The file is an empty database, because the system releases its lock however the process ends.
 */
export async function openLock(file: string, waitMs: number): Promise<Disposable | undefined> {
  const { default: BetterSqlite } = await import("better-sqlite3");
  try {
    const database = new BetterSqlite(file, { timeout: waitMs });
    try {
      database.exec("BEGIN IMMEDIATE");
    } catch (error) {
      database.close();
      throw error;
    }
    return { [Symbol.dispose]: () => void database.close() };
  } catch (error) {
    if (error instanceof BetterSqlite.SqliteError && error.code.startsWith("SQLITE_BUSY")) return undefined;
    throw new CommandFailure(`${file} cannot be locked: ${errorMessage(error)}`);
  }
}
