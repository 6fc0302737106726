import { accessSync, constants } from "node:fs";
import path from "node:path";

/** Whether all of the programs are in the search path. */
export function hasPrograms(...names: readonly string[]): boolean {
  const directories = (process.env.PATH ?? "").split(path.delimiter);
  return names.every((name) => directories.some((directory) => isExecutable(path.join(directory, name))));
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
