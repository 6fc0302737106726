// Private files of the command line: settings and tokens.
import { existsSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { makeDirectory } from "../../base/directories.ts";
import { errorMessage, hasCode } from "../../base/system-error.ts";
import { readTextFile } from "../../base/text-file.ts";
import { CommandFailure } from "../failure.ts";

/** Returns the content of a file, or undefined if it does not exist. Fails with the exit code if it cannot be read. */
export function readIfThere(file: string, exitCode: 1 | 2 = 1): string | undefined {
  try {
    return readTextFile(file);
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw new CommandFailure(`${file} cannot be read: ${errorMessage(error, file)}`, { exitCode });
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
