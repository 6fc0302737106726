// Programs that a machine may lack.
import { accessSync, constants } from "node:fs";
import path from "node:path";

/** Returns those of the programs that are not on the PATH. */
export function missingPrograms(names: readonly string[]): string[] {
  const folders = (process.env.PATH ?? "").split(path.delimiter);
  return names.filter((name) => !folders.some((folder) => isExecutable(path.join(folder, name))));
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
