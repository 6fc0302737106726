// Files that other files must never be lost to, and that appear when they are complete.
import { closeSync, existsSync, linkSync, openSync, renameSync, rmSync } from "node:fs";
import { errorMessage, hasCode } from "../base/system-error.ts";
import { CommandFailure } from "./failure.ts";
import { removeOnSignal } from "./remove-on-signal.ts";

/** Throws if there is a file. */
export function requireNoFile(file: string): void {
  if (existsSync(file)) throw new CommandFailure(`${file} exists`, { hint: "Name a new file, or move that one away." });
}

/**
 * Writes a temporary file, readable by its owner only, and renames it to `file` when it is complete. An error or a signal removes
 * it. Replaces only a file that may be.
 */
export async function writeNewFile<T>(
  file: string,
  write: (temporary: string) => Promise<T>,
  mayReplace = false,
): Promise<T> {
  const temporary = `${file}.new`;
  create(temporary);
  // SQLite may have a journal next to it.
  const files = [temporary, `${temporary}-journal`];
  const forget = removeOnSignal(...files);
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

function create(file: string): void {
  try {
    closeSync(openSync(file, "wx", 0o600));
  } catch (error) {
    if (!hasCode(error, "EEXIST")) throw new CommandFailure(`${file} cannot be written: ${errorMessage(error)}`);
    throw new CommandFailure(`${file} exists: another command is writing it, or one was killed`, {
      hint: "Delete it if no other command runs.",
    });
  }
}

/** Renames a file, unless there is one of the new name, where the file system can do that. */
function publish(from: string, to: string): void {
  try {
    linkSync(from, to);
    rmSync(from);
  } catch (error) {
    if (hasCode(error, "EEXIST")) requireNoFile(to);
    renameSync(from, to);
  }
}
