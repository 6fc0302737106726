// Where the bundle of the server lies, and whether it is still what the sources say. Plain JavaScript, as everything that
// runs before types can be stripped.
import { readFileSync, statSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../..", import.meta.url));
/** Beside the sources and not among the packages: these may be shared with another clone. */
export const bundlesDirectory = path.join(root, ".cache", "bundle");
/** Tells which build is used, what it was made of, and what it consists of. */
export const recordFile = path.join(bundlesDirectory, "current.json");

/**
 * The bundle's main module, CommonJS: undefined when there is none, or when a file that it was made of has changed since.
 *
 * @returns {string | undefined}
 */
export function currentBundle() {
  const record = readRecord();
  if (!record) return undefined;
  const directory = path.join(bundlesDirectory, record.directory);
  const isCurrent = isUnchanged(root, record.inputs) && isUnchanged(directory, record.outputs);
  return isCurrent ? path.join(directory, "main.cjs") : undefined;
}

/** What is recorded of the latest build; undefined when nothing is. */
export function readRecord() {
  try {
    return JSON.parse(readFileSync(recordFile, "utf8"));
  } catch {
    return undefined;
  }
}

/**
 * What tells one state of a file from another: its size, and its time in whole seconds, which is what archives keep.
 *
 * @param {string} file
 */
export function stampOf(file) {
  const { size, mtimeMs } = statSync(file);
  return [size, Math.floor(mtimeMs / 1000)];
}

function isUnchanged(directory, stamps) {
  try {
    return Object.entries(stamps).every(([name, [size, seconds]]) => {
      const [sizeNow, secondsNow] = stampOf(`${directory}/${name}`);
      return sizeNow === size && secondsNow === seconds;
    });
  } catch {
    return false;
  }
}
