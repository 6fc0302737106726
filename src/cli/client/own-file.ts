// Private files of the command line: settings and tokens.
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { makeDirectory } from "../../base/directories.ts";
import { errorMessage, hasCode } from "../../base/system-error.ts";
import { CommandFailure } from "../failure.ts";

/** Returns the content of a file, or undefined if it does not exist. Throws if it cannot be read. */
export function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error;
  }
}

/** Writes a file that only its owner can read. Readers see the old or the new content, never a part. */
export function replaceFile(file: string, text: string): void {
  // Concurrent commands must not write to one temporary file.
  const written = `${file}.${process.pid}.new`;
  try {
    makeDirectory(path.dirname(file));
    writeFileSync(written, text, { mode: 0o600 });
    renameSync(written, file);
  } catch (error) {
    // It may contain part of a token.
    if (existsSync(written)) rmSync(written);
    throw new CommandFailure(`${file} cannot be written: ${errorMessage(error)}`);
  }
}
