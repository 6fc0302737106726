// Files that the caller's commands keep for themselves and for other tools: settings and tokens.
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import path from "node:path";

/** The text of a file; undefined when there is none. Throws when there is one that cannot be read. */
export function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

/** Writes a file that its owner alone can read. Whoever reads it sees the old text or the new one, never a part. */
export function replaceFile(file: string, text: string): void {
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  // Two commands at once must not write into one file.
  const written = `${file}.${process.pid}.new`;
  writeFileSync(written, text, { mode: 0o600 });
  renameSync(written, file);
}
