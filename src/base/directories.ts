import { mkdirSync, statSync } from "node:fs";
import path from "node:path";
import { hasCode } from "./system-error.ts";

/**
 * Makes a directory with those above it that are missing, which its owner alone may read unless another mode is given; what is
 * there stays as it is. Throws what the system says of the first that cannot be made, such as EROFS.
 *
 * Node's `recursive` tries for ever where a directory takes no others, as in /proc, and says ENOENT of a disk that is read-only.
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
