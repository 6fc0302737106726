// `npm run bench`: Gatehouse next to servers that do nothing else, in one run, on one machine. `npm run bench -- NAME` measures something
// that has no peer.
import { measureGroups } from "./bench.ts";
import { measureDatabases } from "./databases.ts";
import { type Options, parseOptions, type Suite, UsageError, usage } from "./options.ts";
import { measurePeers } from "./peers.ts";
import { formatResults } from "./report.ts";
import { merged, type Results, readRecorded, recordResults, regressions } from "./results.ts";
import { requireTools } from "./tools.ts";
import { measureWorkers } from "./workers.ts";

type Measure = (options: Options, searchPath: string, report: (text: string) => void) => Promise<Results>;

const measures: Readonly<Record<Suite, Measure>> = {
  groups: measureGroups,
  scale: measureGroups,
  postgres: measureDatabases,
  workers: measureWorkers,
  peers: measurePeers,
};

/** Measurements with options of their own, by the name that comes first on the command line. */
const alone: Readonly<Record<string, () => Promise<unknown>>> = {
  exchange: () => import("./exchange.ts"),
  fairness: () => import("./fairness.ts"),
  import: () => import("./import.ts"),
  keys: () => import("./keys.ts"),
  questions: () => import("./questions.ts"),
  startup: () => import("./startup.ts"),
  tracing: () => import("./tracing.ts"),
  watch: () => import("./watch.ts"),
};

try {
  const measureAlone = alone[process.argv[2] ?? ""];
  if (measureAlone) {
    process.argv.splice(2, 1);
    await measureAlone();
  } else process.exitCode = await main();
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  console.error(`bench: ${error.message}\n${usage}`);
  process.exitCode = 2;
}

/** Exit codes: 0 done, 1 a ratio is worse than the recorded one, 2 wrong usage or a missing program. */
async function main(): Promise<number> {
  const options = parseOptions(process.argv.slice(2));
  if (!options) {
    console.log(usage);
    return 0;
  }
  const { suite, compare, record } = options;
  const searchPath = process.env.PATH ?? "";
  requireTools(searchPath);
  const recorded = readRecorded(suite);
  if (compare && !recorded) throw new UsageError(`--compare: no run of ${suite} is recorded`);
  const startedAt = performance.now();
  const results = await measures[suite](options, searchPath, (text) => console.error(text));
  console.log(formatResults(results));
  console.log(`\nMeasured in ${((performance.now() - startedAt) / 60_000).toFixed(1)} minutes.`);
  if (compare && recorded) {
    const worse = regressions(recorded, results);
    console.log(worse.length === 0 ? "No ratio is 10 % worse than the recorded one." : worse.join("\n"));
    return worse.length === 0 ? 0 : 1;
  }
  if (record === "nothing") return 0;
  const kept = record === "measured" && recorded ? merged(recorded, results) : results;
  console.log(`Written to ${recordResults(suite, kept)}; npx node bench/write-figures.ts copies it to the docs.`);
  return 0;
}
