// Runs in each server process before the program: gives it a clock of its own, and plants a fault if the test asks for one.
import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { isMainThread } from "node:worker_threads";
import { clockVariable, type PlantedFault, plantedFaults, plantVariable } from "./planted-faults.ts";

const clockFile = process.env[clockVariable];
if (clockFile !== undefined) skewClock(clockFile);
const planted = process.env[plantVariable];
if (planted !== undefined) plant(planted as PlantedFault);

/** Adds the milliseconds in the file to every reading of the clock. SIGUSR2 reads the file again. */
function skewClock(file: string): void {
  let skewMs = Number(readFileSync(file, "utf8"));
  const systemNow = Date.now;
  Date.now = () => systemNow() + skewMs;
  if (!isMainThread) return;
  process.on("SIGUSR2", () => {
    skewMs = Number(readFileSync(file, "utf8"));
  });
}

function plant(name: PlantedFault): void {
  const { module, find, replace } = plantedFaults[name];
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      if (!url.includes(module)) return loaded;
      const source = loaded.source instanceof Uint8Array ? Buffer.from(loaded.source).toString() : loaded.source;
      return { ...loaded, source: String(source).replace(find, () => replace) };
    },
  });
}
