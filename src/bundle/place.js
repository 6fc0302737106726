// Where the bundle of the server lies, and whether it is still what the sources say. Plain JavaScript, as everything that
// runs before types can be stripped.
import { readFileSync, statSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../..", import.meta.url));
/** With the compile cache: whoever may write there may change the program anyway. */
export const bundleDirectory = path.join(root, "node_modules", ".cache", "gatehouse", "bundle");
/** What npm writes whenever it changes a package. */
export const packagesFile = "node_modules/.package-lock.json";
const inputsFile = path.join(bundleDirectory, "inputs.json");

/**
 * The main module of the bundle: undefined when there is none, or when a file that it was made of has changed since.
 *
 * @returns {string | undefined}
 */
export function currentBundle() {
  try {
    const inputs = JSON.parse(readFileSync(inputsFile, "utf8"));
    const isCurrent = Object.entries(inputs).every(([file, stamp]) => stampOf(file) === stamp);
    return isCurrent ? path.join(bundleDirectory, "main.mjs") : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Notes what a bundle was made of.
 *
 * @param {string} directory where the bundle is
 * @param {readonly string[]} files
 */
export function stampsOf(files) {
  return Object.fromEntries(files.map((file) => [file, stampOf(file)]));
}

/**
 * Tells one state of a file from another. Archives and images keep whole seconds of the time only.
 *
 * @param {string} file below the root
 */
function stampOf(file) {
  const { size, mtimeMs } = statSync(path.join(root, file));
  return `${size} ${Math.floor(mtimeMs / 1000)}`;
}
