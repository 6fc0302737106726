// `npm test`: everything that a change must pass before it is committed. Exits with 1 if a step failed.
// `npm test -- FILE…` runs only the named test files, `npm test -- --changed` those that your changes can affect, and `npm test -- --full`
// those of the full matrix that `npm test` leaves out. `npm test -- --watch FILE…` runs test files again at each change of what they import.
import { globSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { changedFiles, selectTests } from "./changed-tests.ts";
import { newMemoryFolder } from "./memory-folder.ts";
import { runSteps } from "./run-steps.ts";
import { lockFileStep, protoSteps, type Step, sourceSteps, testSteps, watchStep } from "./steps.ts";
import { formatSummary } from "./summary.ts";

/** Two more than there are processors: tests wait for databases, processes and deadlines. */
const lanes = Math.min(4, availableParallelism() + 2);

const { values, positionals } = parseArgs({
  options: { changed: { type: "boolean" }, full: { type: "boolean" }, watch: { type: "boolean" } },
  allowPositionals: true,
});
const memoryFolder = newMemoryFolder();
process.once("exit", () => memoryFolder && rmSync(memoryFolder, { recursive: true, force: true, maxRetries: 3 }));
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));

const results = await runSteps(stepsOfRun(), lanes);
console.log(`\n${formatSummary(results)}`);
const failed = results.filter(({ error }) => error !== undefined);
if (failed.length > 0) {
  console.error(`\nfailed: ${failed.map(({ name }) => name).join(", ")}`);
  process.exitCode = 1;
}

function stepsOfRun(): Step[] {
  if (values.watch) return [watchStep(positionals)];
  if (values.changed) return stepsOfChange();
  if (values.full) return stepsOfMatrix();
  const tests =
    positionals.length > 0
      ? testSteps(positionals, { memoryFolder })
      : testSteps(shortTests(), { memoryFolder, database: "sqlite", isQuick: true });
  return [...tests, ...sourceSteps, ...protoSteps, lockFileStep];
}

/** The rest of the full matrix: all of what `npm test` leaves out or runs in part, and on PostgreSQL what it runs on SQLite only. */
function stepsOfMatrix(): Step[] {
  const importing = (module: string) => (file: string) => readFileSync(file, "utf8").includes(`/${module}"`);
  const partial = shortTests().filter(importing("quick.ts"));
  const forBoth = shortTests().filter((file) => importing("databases.ts")(file) && !partial.includes(file));
  const whole = [...fullTests(), ...partial].sort();
  return [...testSteps(whole, { memoryFolder }), ...testSteps(forBoth, { memoryFolder, database: "postgres" })];
}

/** The tests that the change can affect, lint and types; with changed protos, their checks too. */
function stepsOfChange(): Step[] {
  const changed = changedFiles();
  const all = [...shortTests(), ...fullTests()];
  const selected = selectTests(all, changed);
  console.log(`${changed.length} changed files affect ${selected.length} of ${all.length} test files`);
  const hasProtos = changed.some((file) => file.startsWith("proto/") || file.startsWith("buf."));
  return [...testSteps(selected, { memoryFolder }), ...sourceSteps, ...(hasProtos ? protoSteps : [])];
}

function shortTests(): string[] {
  return filesNamed("*.test.ts");
}

/** Combinations, and processes of the program: they would take `npm test` beyond three minutes. */
function fullTests(): string[] {
  return filesNamed("*.full.ts");
}

function filesNamed(name: string): string[] {
  return globSync([`test/**/${name}`, `bench/test/**/${name}`])
    .map((file) => file.replaceAll("\\", "/"))
    .sort();
}
