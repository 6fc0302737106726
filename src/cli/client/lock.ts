// Work that two commands must not do at once.
import { CommandFailure } from "../failure.ts";

/** How long another process is waited for, in milliseconds: longer than a call to a server may take. */
const patienceMs = 75_000;

/**
 * Does the work while no other process does any under the same file. One at a time in each process: waiting blocks it.
 *
 * The file is a database without content, because the system lets go of its lock however the process ends.
 */
export async function whileLocked<T>(file: string, work: () => Promise<T>): Promise<T> {
  using _lock = await openLock(file);
  return await work();
}

async function openLock(file: string): Promise<Disposable> {
  const { default: BetterSqlite } = await import("better-sqlite3");
  try {
    const database = new BetterSqlite(file, { timeout: patienceMs });
    database.exec("BEGIN IMMEDIATE");
    return { [Symbol.dispose]: () => void database.close() };
  } catch (error) {
    throw new CommandFailure(`${file} cannot be locked: ${error instanceof Error ? error.message : error}`);
  }
}
