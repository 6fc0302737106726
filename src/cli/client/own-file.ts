// Files that the caller's commands keep for themselves and for other tools: settings and tokens.
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { makeDirectory } from "../../base/directories.ts";
import { errorMessage, hasCode } from "../../base/system-error.ts";
import { CommandFailure } from "../failure.ts";

/** The text of a file; undefined when there is none. Throws when there is one that cannot be read. */
export function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error;
  }
}

/** Writes a file that its owner alone can read. Whoever reads it sees the old text or the new one, never a part. */
export function replaceFile(file: string, text: string): void {
  // Two commands at once must not write into one file.
  const written = `${file}.${process.pid}.new`;
  try {
    makeDirectory(path.dirname(file));
    writeFileSync(written, text, { mode: 0o600 });
    renameSync(written, file);
  } catch (error) {
    // It may hold a part of a token.
    if (existsSync(written)) rmSync(written);
    throw new CommandFailure(`${file} cannot be written: ${errorMessage(error)}`);
  }
}
