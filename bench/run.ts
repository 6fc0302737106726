// `npm run bench`: Gatehouse next to servers that do nothing else, in one run, on one machine.
import { measureAll } from "./bench.ts";
import { measureDatabases } from "./databases.ts";
import { parseOptions, UsageError, usage } from "./options.ts";
import { formatResults } from "./report.ts";
import { readRecorded, recordResults, regressions } from "./results.ts";
import { requireTools } from "./tools.ts";

try {
  process.exitCode = await main();
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
  const searchPath = process.env.PATH ?? "";
  requireTools(searchPath);
  const recorded = readRecorded();
  if (options.compare && !recorded) throw new UsageError("--compare: there is no bench/results.json to compare with");
  const measure = options.database === "postgres" ? measureDatabases : measureAll;
  const results = await measure(options, searchPath, (text) => console.error(text));
  console.log(formatResults(results));
  if (options.compare && recorded) {
    const worse = regressions(recorded, results);
    console.log(worse.length === 0 ? "No ratio is 10 % worse than the recorded one." : worse.join("\n"));
    return worse.length === 0 ? 0 : 1;
  }
  if (options.complete) console.log(`written to ${recordResults(results)}`);
  return 0;
}
