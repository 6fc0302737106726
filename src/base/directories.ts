import { mkdirSync, statSync } from "node:fs";
import path from "node:path";
import { hasCode } from "./system-error.ts";

/**
 * Creates a directory and its missing ancestors. Only the owner may read it, unless another mode is given. Existing
 * directories stay unchanged. Throws the system error of the first one that cannot be created, such as EROFS.
 *
 * Node's `recursive` option loops forever where a directory cannot have children, as in /proc, and reports ENOENT for a
 * read-only disk.
 */
export function makeDirectory(directory: string, mode = 0o700): void {
  try {
    makeOne(directory, mode);
  } catch (error) {
    const above = path.dirname(directory);
    if (!hasCode(error, "ENOENT") || above === directory) throw error;
    makeDirectory(above, mode);
    makeOne(directory, mode);
  }
}

function makeOne(directory: string, mode: number): void {
  try {
    mkdirSync(directory, { mode });
  } catch (error) {
    if (!hasCode(error, "EEXIST") || !statSync(directory).isDirectory()) throw error;
  }
}
