// `npm run bundle`, and part of `npm ci`: the server in a few files, which load in half the time that the sources take
// (docs/decisions/0016). Does nothing when there are such files and the sources are as they were.
import { mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { bundlesDirectory, currentBundle, readRecord, recordFile, root, snapshotStamp, stampOf } from "./place.js";

const attempts = 5;
/** After which a build that is not used may go. A server that runs from it has loaded what it needs by then. */
const keptMs = 60 * 60 * 1000;

if (currentBundle() === undefined) {
  try {
    await makeBundle();
  } catch (error) {
    console.error(`The bundle of the server cannot be made, it runs from its sources: ${error.message}`);
    process.exitCode = 1;
  }
}

/** Makes it in a directory of its own: no start finds half of it, and a server that runs keeps what it began with. */
async function makeBundle() {
  const name = `${Date.now().toString(36)}-${process.pid}`;
  const directory = path.join(bundlesDirectory, name);
  const inputs = await buildSettled(directory);
  const snapshot = await trySnapshot(directory);
  const outputs = stampsOf(directory, readdirSync(directory));
  const previous = readRecord()?.directory;
  writeFileSync(`${directory}.json`, JSON.stringify({ directory: name, inputs, outputs, snapshot }));
  renameSync(`${directory}.json`, recordFile);
  removeOld([name, previous]);
}

/** Builds until no input has changed since the second before: a stamp tells whole seconds apart. Answers their stamps. */
async function buildSettled(directory) {
  const { buildBundle } = await import("./build.js");
  for (let attempt = 0; attempt < attempts; attempt++) {
    const startedAt = Math.floor(Date.now() / 1000);
    mkdirSync(directory, { recursive: true });
    const inputs = stampsOf(root, await buildBundle(directory));
    const newest = Math.max(...Object.values(inputs).map(([, seconds]) => seconds));
    if (newest < startedAt) return inputs;
    rmSync(directory, { recursive: true });
    if (newest > startedAt + attempts) throw new Error("a source has a time to come");
    await sleep(1000);
  }
  throw new Error("the sources change while they are read");
}

/** Adds a startup snapshot, and answers with what it can be used; undefined where Node cannot make one. */
async function trySnapshot(directory) {
  const { buildSnapshot } = await import("./snapshot.js");
  try {
    buildSnapshot(directory);
    return snapshotStamp();
  } catch (error) {
    console.error(`The server starts without a snapshot, since none can be made: ${error.message}`);
    return undefined;
  }
}

function stampsOf(directory, names) {
  return Object.fromEntries(names.map((name) => [name, stampOf(path.join(directory, name))]));
}

function removeOld(used) {
  for (const { name, parentPath } of readdirSync(bundlesDirectory, { withFileTypes: true })) {
    const entry = path.join(parentPath, name);
    if (entry === recordFile || used.includes(name) || Date.now() - statSync(entry).mtimeMs < keptMs) continue;
    rmSync(entry, { recursive: true, force: true });
  }
}
