// `npm test`: everything that a change must pass. Exits with 1 if a step failed.
// `npm test -- FILE…` runs only the named test files, `npm test -- --changed` only those that your changes can affect.
import { globSync, rmSync } from "node:fs";
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { changedFiles, selectTests } from "./changed-tests.ts";
import { newMemoryFolder } from "./memory-folder.ts";
import { runSteps } from "./run-steps.ts";
import { lockFileStep, protoSteps, type Step, sourceSteps, testSteps } from "./steps.ts";
import { formatSummary } from "./summary.ts";

/** One more than there are processors: tests wait for databases and processes. */
const lanes = Math.min(3, availableParallelism() + 1);

const { values, positionals } = parseArgs({ options: { changed: { type: "boolean" } }, allowPositionals: true });
const memoryFolder = newMemoryFolder();
process.once("exit", () => memoryFolder && rmSync(memoryFolder, { recursive: true, force: true, maxRetries: 3 }));
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));

const steps = values.changed ? stepsOfChange() : [...testSteps(namedTests(), memoryFolder), ...otherSteps()];
const results = await runSteps(steps, lanes);
console.log(`\n${formatSummary(results)}`);
const failed = results.filter(({ error }) => error !== undefined);
if (failed.length > 0) {
  console.error(`\nfailed: ${failed.map(({ name }) => name).join(", ")}`);
  process.exitCode = 1;
}

function otherSteps(): Step[] {
  return [...sourceSteps, ...protoSteps, lockFileStep];
}

/** The tests that the change can affect, lint and types; with changed protos, their checks too. */
function stepsOfChange(): Step[] {
  const changed = changedFiles();
  const selected = selectTests(allTests(), changed);
  console.log(`${changed.length} changed files affect ${selected.length} of ${allTests().length} test files`);
  const hasProtos = changed.some((file) => file.startsWith("proto/") || file.startsWith("buf."));
  return [...testSteps(selected, memoryFolder), ...sourceSteps, ...(hasProtos ? protoSteps : [])];
}

function namedTests(): string[] {
  return positionals.length > 0 ? positionals : allTests();
}

function allTests(): string[] {
  return globSync(["test/**/*.test.ts", "bench/test/**/*.test.ts"])
    .map((file) => file.replaceAll("\\", "/"))
    .sort();
}
