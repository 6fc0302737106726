// `npm run bundle`, and part of `npm ci`: the server in a few files, which load in half the time that the sources take
// (docs/decisions/0016-start.md). Does nothing when there are such files and the sources are as they were.
import { renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { buildBundle } from "./build.js";
import { bundleDirectory, currentBundle, root, stampsOf } from "./place.js";

if (currentBundle() === undefined) await makeBundle();

/** Makes it beside the place where it will be: no start finds half of it. */
async function makeBundle() {
  const unfinished = `${bundleDirectory}-${process.pid}`;
  try {
    const inputs = await buildSettled(unfinished);
    writeFileSync(path.join(unfinished, "inputs.json"), JSON.stringify(stampsOf(inputs)));
    rmSync(bundleDirectory, { recursive: true, force: true });
    renameSync(unfinished, bundleDirectory);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}

/** Builds again until no input changed in the second in which it began: a stamp knows whole seconds only. */
async function buildSettled(directory) {
  for (;;) {
    const startedAt = Math.floor(Date.now() / 1000) * 1000;
    const inputs = await buildBundle(directory);
    if (inputs.every((file) => statSync(path.join(root, file)).mtimeMs < startedAt)) return inputs;
    await sleep(1000);
  }
}
