import { fileURLToPath } from "node:url";

/**
 * Returns the path of a file of the program, given relative to `src`. The bundle has these files in the same place relative to
 * `dist`, and its modules in `dist/chunks`: as deep as this one (build/bundle.js).
 */
export function programFile(path: string): string {
  return fileURLToPath(new URL(`../${path}`, import.meta.url));
}
