// `npm run suites`: the suites of `.ci/run`, one after another; with --all, all of them; with names, those alone. Exits with 1 if one
// failed, and with 2 if there is no suite of a name.
import { parseArgs } from "node:util";
import { runSteps } from "./run-steps.ts";
import { type Suite, selectSuites, suiteStep } from "./suites.ts";
import { formatSummary } from "./summary.ts";

const { values, positionals } = parseArgs({
  options: { all: { type: "boolean", default: false } },
  allowPositionals: true,
});
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));
const selected = requireSuites();
const results = await runSteps(
  selected.map((suite) => suiteStep(suite, values.all)),
  1,
);
console.log(`\n${formatSummary(results)}`);
if (results.some(({ error }) => error !== undefined)) process.exitCode = 1;

function requireSuites(): readonly Suite[] {
  try {
    return selectSuites(positionals, values.all);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exit(2);
  }
}
