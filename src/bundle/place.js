// Where the bundle of the server lies, and whether it is still what the sources say. Plain JavaScript, as everything that
// runs before types can be stripped.
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { cachedDataVersionTag } from "node:v8";

// An `import` of it reads all that it exports, which loads its streams: a tenth of what the launcher takes.
const { readFileSync, statSync } = createRequire(import.meta.url)("node:fs");

export const root = fileURLToPath(new URL("../..", import.meta.url));
/** Beside the sources and not among the packages: these may be shared with another clone. */
export const bundlesDirectory = path.join(root, ".cache", "bundle");
/** Tells which build is used, what it was made of, and what it consists of. */
export const recordFile = path.join(bundlesDirectory, "current.json");
/** The startup snapshot among the files of a build. */
export const snapshotFile = "server.blob";
/**
 * Where Node keeps the code that it has compiled. With the code: whoever may write there may change the program anyway, which
 * does not hold of a directory for temporary files. Where nobody may write, nothing is kept, unless NODE_COMPILE_CACHE names
 * another place.
 */
export const compiledCode = path.join(root, "node_modules", ".cache", "gatehouse");
/**
 * What Node is started with. MiB: new objects in more memory than this cost memory and save no time. It is set at the start of a
 * process or not at all: here, in the first line of gatehouse.js, and in the scripts of package.json.
 */
export const flags = ["--max-semi-space-size=8"];
/**
 * What V8 is told before anything is compiled or taken from a cache of compiled code, which is only good for the flags that it
 * was made with: to collect all garbage once the heap is twice what was needed after the last time, instead of four times. Each stream of
 * node:http2 stays until then, with memory outside of the heap that V8 does not see (docs/decisions/0019).
 */
export const heapFlag = "--heap-growing-percent=100";

/**
 * The bundle's main module, CommonJS, and its startup snapshot where it has one that this process could have begun with.
 * Undefined when there is none, or when a file that it was made of has changed since.
 *
 * @returns {{ main: string, snapshot: string | undefined } | undefined}
 */
export function currentBundle() {
  const record = readRecord();
  if (!record) return undefined;
  const directory = path.join(bundlesDirectory, record.directory);
  const isCurrent = isUnchanged(root, record.inputs) && isUnchanged(directory, record.outputs);
  if (!isCurrent) return undefined;
  const hasSnapshot = record.snapshot !== undefined && isSame(record.snapshot, snapshotStamp());
  return {
    main: path.join(directory, "main.cjs"),
    snapshot: hasSnapshot ? path.join(directory, snapshotFile) : undefined,
  };
}

/** What must be the same when a snapshot is made and when it is used: Node, what V8 can do and is told to, and the place. */
export function snapshotStamp() {
  return { root, node: process.version, arch: process.arch, platform: process.platform, v8: cachedDataVersionTag() };
}

function isSame(one, other) {
  return Object.entries(other).every(([name, value]) => one[name] === value);
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
