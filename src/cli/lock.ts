// Work that two processes must not do at once.
import { loader } from "../base/lazy.ts";
import { errorMessage } from "../base/system-error.ts";
import { CommandFailure } from "./failure.ts";

const load = loader(import.meta.url);

/** How long another process is waited for, in milliseconds: longer than a call to a server may take. */
const patienceMs = 75_000;

/** Does the work while no other process does any under the same file. One at a time in each process: waiting blocks it. */
export async function whileLocked<T>(file: string, work: () => Promise<T>): Promise<T> {
  using lock = await openLock(file, patienceMs);
  if (!lock) throw new CommandFailure(`${file} cannot be locked: another process has it`);
  return await work();
}

/**
 * Takes the lock of a file, which is made when it is not there; undefined when another process still has it after so many
 * milliseconds. Disposing lets go of it.
 *
 * The file is a database without content, because the system lets go of its lock however the process ends.
 */
export async function openLock(file: string, waitMs: number): Promise<Disposable | undefined> {
  const BetterSqlite: typeof import("better-sqlite3") = load("better-sqlite3");
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
