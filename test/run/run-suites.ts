// `npm run suites`: the suites of `.ci/run`; with --all, all of them; with names, those alone. Exits with 1 if one failed, and with 2 if
// there is no suite of a name.
import { parseArgs } from "node:util";
import { runSteps, type StepResult } from "./run-steps.ts";
import { type Suite, selectSuites, suiteStep } from "./suites.ts";
import { formatSummary } from "./summary.ts";

const { values, positionals } = parseArgs({
  options: { all: { type: "boolean", default: false } },
  allowPositionals: true,
});
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));
const selected = requireSuites();
const results = values.all || positionals.length > 0 ? await runInTurn(selected, true) : await runInLanes();
console.log(`\n${formatSummary(results)}`);
if (results.some(({ error }) => error !== undefined)) process.exitCode = 1;

/** Runs the matrix, which keeps the processors busy, then the others in two lanes: most of them wait for one program. */
async function runInLanes(): Promise<StepResult[]> {
  const isMatrix = ({ name }: Suite) => name === "matrix";
  const matrix = await runInTurn(selected.filter(isMatrix), true);
  const others = selected.filter((suite) => !isMatrix(suite));
  const lanes = [others.filter(({ usesBuild }) => !usesBuild), others.filter(({ usesBuild }) => usesBuild)];
  return [...matrix, ...(await Promise.all(lanes.map((lane) => runInTurn(lane, false)))).flat()];
}

function runInTurn(suites: readonly Suite[], isLive: boolean): Promise<StepResult[]> {
  return runSteps(
    suites.map((suite) => suiteStep(suite, { isAll: values.all, isLive })),
    1,
  );
}

function requireSuites(): readonly Suite[] {
  try {
    return selectSuites(positionals, values.all);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exit(2);
  }
}
