// Writes new files: they appear when they are complete, and never replace a file by accident.
import { closeSync, existsSync, linkSync, openSync, renameSync, rmSync } from "node:fs";
import { errorMessage, hasCode } from "../base/system-error.ts";
import { CommandFailure } from "./failure.ts";
import { openLock } from "./lock.ts";
import { removeOnSignal } from "./remove-on-signal.ts";

/** Throws if there is a file. */
export function requireNoFile(file: string): void {
  if (existsSync(file)) throw new CommandFailure(`${file} exists`, { hint: "Name a new file, or move that one away." });
}

/**
 * Writes a temporary file, readable by its owner only, and renames it to `file` when it is complete. An error or a
 * signal removes the temporary file. One that a killed command left is written again. An existing `file` is replaced
 * only with `mayReplace`.
 */
export async function writeNewFile<T>(
  file: string,
  write: (temporary: string) => Promise<T>,
  mayReplace = false,
): Promise<T> {
  const temporary = `${file}.new`;
  // SQLite may have a journal next to it.
  const files = [temporary, `${temporary}-journal`];
  using _claim = await claim(temporary, files);
  const forget = removeOnSignal(...files, lockOf(temporary), `${lockOf(temporary)}-journal`);
  try {
    const written = await write(temporary);
    if (mayReplace) renameSync(temporary, file);
    else publish(temporary, file);
    return written;
  } catch (error) {
    for (const each of files) rmSync(each, { force: true });
    throw error;
  } finally {
    forget();
  }
}

function lockOf(temporary: string): string {
  return `${temporary}-lock`;
}

/** Creates the temporary file, and locks it: the system releases the lock when the command is killed. Disposing removes the lock. */
async function claim(temporary: string, files: readonly string[]): Promise<Disposable> {
  const lockFile = lockOf(temporary);
  const isNew = create(temporary);
  // Without a lock, the file belongs to another program, or to a command that is about to lock it.
  if (!isNew && !existsSync(lockFile)) throw taken(temporary);
  const lock = await openLock(lockFile, 0);
  if (!lock) throw taken(temporary);
  if (!isNew) {
    for (const each of files) rmSync(each, { force: true });
    create(temporary);
  }
  return {
    [Symbol.dispose]() {
      rmSync(lockFile, { force: true });
      lock[Symbol.dispose]();
    },
  };
}

/** Returns whether it created the file; otherwise there is one. */
function create(file: string): boolean {
  try {
    closeSync(openSync(file, "wx", 0o600));
    return true;
  } catch (error) {
    if (hasCode(error, "EEXIST")) return false;
    throw new CommandFailure(`${file} cannot be written: ${errorMessage(error)}`);
  }
}

function taken(file: string): CommandFailure {
  return new CommandFailure(`${file} exists: another command is writing it, or it is a file of yours`, {
    hint: "Delete it if no other command runs.",
  });
}

/** Renames a file. Throws if the new name is taken; a file system without hard links cannot detect that, and replaces the file. */
function publish(from: string, to: string): void {
  try {
    linkSync(from, to);
    rmSync(from);
  } catch (error) {
    if (hasCode(error, "EEXIST")) requireNoFile(to);
    renameSync(from, to);
  }
}
