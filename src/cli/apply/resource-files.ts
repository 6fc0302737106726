// Finds the files of resources. Links are followed, as in a mounted ConfigMap, and each file is read once.
import { readdirSync, realpathSync, type Stats, statSync } from "node:fs";
import path from "node:path";
import { errorMessage, hasCode } from "../../base/system-error.ts";
import { type CommandFailure, wrongUsage } from "../failure.ts";

/** The maximum number of entries of all directories. */
const maxEntries = 100_000;

/** Reports whether a file in a directory is one of resources, by its name. */
export function isResourceFile(file: string): boolean {
  return /\.(ya?ml|json)$/i.test(file);
}

/** An entry of a directory that is not read. */
export interface LeftOut {
  readonly file: string;
  /** The reason, as the end of a sentence: `its name begins with a dot`. */
  readonly why: string;
}

/** The files of a command. */
export interface ResourceFiles {
  /** Files in the order of the paths, those of a directory by name; `-` for standard input. */
  readonly files: readonly string[];
  readonly leftOut: readonly LeftOut[];
  /** The files and directories that were found, without links in their paths. */
  readonly found: ReadonlyMap<string, string>;
}

interface Search {
  readonly files: string[];
  readonly leftOut: LeftOut[];
  readonly found: Map<string, string>;
  entries: number;
}

/** Finds the files at these paths, and the YAML and JSON files in directories and below. Wrong usage if one cannot be read. */
export function findResourceFiles(paths: readonly string[]): ResourceFiles {
  const search: Search = { files: [], leftOut: [], found: new Map(), entries: 0 };
  for (const each of paths) {
    if (each === "-") search.files.push(each);
    else if (!statOf(each).isDirectory()) addFile(search, each);
    else if (!addDirectory(search, each)) throw wrongUsage(`${each} has no files that end in .yaml, .yml or .json`);
  }
  return search;
}

/** Returns whether the directory has files of resources. */
function addDirectory(search: Search, directory: string): boolean {
  if (isKnown(search, directory)) return true;
  let hasFiles = false;
  for (const file of entriesOf(search, directory)) {
    const why = reasonToLeaveOut(file);
    if (why !== undefined) search.leftOut.push({ file, why });
    else if (statOf(file).isDirectory()) hasFiles = addDirectory(search, file) || hasFiles;
    else hasFiles = addFile(search, file) || hasFiles;
  }
  return hasFiles;
}

function reasonToLeaveOut(file: string): string | undefined {
  if (path.basename(file).startsWith(".")) return "its name begins with a dot";
  const found = statOf(file);
  if (found.isDirectory()) return undefined;
  if (!isResourceFile(file)) return "its name does not end in .yaml, .yml or .json";
  if (found.isFile()) return undefined;
  // To open a pipe that nobody writes to would take forever.
  throw wrongUsage(`${file} is a pipe, a socket or a device: name it with an -f of its own`);
}

function addFile(search: Search, file: string): boolean {
  if (!isKnown(search, file)) search.files.push(file);
  return true;
}

/** Reports whether a link led to the same place before. */
function isKnown({ found, leftOut }: Search, file: string): boolean {
  const real = reading(file, () => realpathSync(file));
  const known = found.get(real);
  if (known === undefined) found.set(real, file);
  else leftOut.push({ file, why: `it is the same as ${known}` });
  return known !== undefined;
}

function entriesOf(search: Search, directory: string): string[] {
  const names = reading(directory, () => readdirSync(directory));
  search.entries += names.length;
  if (search.entries > maxEntries)
    throw wrongUsage(`${directory}: the directories have more than ${maxEntries} entries`);
  return names.sort().map((name) => path.join(directory, name));
}

function statOf(file: string): Stats {
  return reading(file, () => statSync(file));
}

function reading<T>(file: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw cannotBeRead(file, error);
  }
}

function cannotBeRead(file: string, error: unknown): CommandFailure {
  const hint = hasCode(error, "ENOENT") ? "`gatehouse export GROUP DIRECTORY` writes the files to begin with." : "";
  return wrongUsage(`${file} cannot be read: ${errorMessage(error, file)}`, hint);
}
