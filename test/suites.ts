// `npm run suites`: the suites that need other programs, one after another; with --all, all of them. Exits with 1 if one failed.
import { parseArgs } from "node:util";
import { runSteps } from "./run/run-steps.ts";
import { suiteSteps } from "./run/suites.ts";
import { formatSummary } from "./run/summary.ts";

const { values } = parseArgs({ options: { all: { type: "boolean", default: false } } });
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));
const results = await runSteps(suiteSteps(values.all), 1);
console.log(`\n${formatSummary(results)}`);
if (results.some(({ error }) => error !== undefined)) process.exitCode = 1;
