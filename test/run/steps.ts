// The steps of `npm test`.
import path from "node:path";
import { databasesVariable } from "../harness/databases.ts";
import { quickVariable } from "../harness/quick.ts";
import type { DatabaseKind } from "../harness/server.ts";
import type { FileTime } from "./file-times.ts";
import { checkLockFile } from "./lock-file.ts";
import { checkBreaking, checkGenerated } from "./proto-checks.ts";
import { runTests, watchTests } from "./test-step.ts";
import { type Print, runTool } from "./tool.ts";

/** The result of a step that ran test files. */
export interface StepOutcome {
  readonly times: readonly FileTime[];
  /** The reason why the step failed; absent if it passed. */
  readonly error?: unknown;
}

export interface Step {
  readonly name: string;
  /** Throws, or returns an error, if the step fails. Its output goes to `print`; without it, to the terminal. */
  run(print?: Print): Promise<StepOutcome | undefined>;
  /** Shows the output as it comes. Of several steps that run at a time only one may. */
  readonly isLive?: boolean;
}

/**
 * Test folders that take a third to a tenth of the time each, the longest first. They run in processes of their own: in one process,
 * garbage collection takes longer, and nothing else runs while a test waits. The first folder that contains a file counts.
 */
const ownSteps = [
  { name: "tests of killed programs", folders: ["cli/faults"] },
  { name: "tests of the command line", folders: ["cli"] },
  { name: "tests of the API cases", folders: ["api"] },
  { name: "tests of security", folders: ["security"] },
  { name: "tests of the services", folders: ["services"] },
  { name: "tests of the storage", folders: ["storage"] },
  { name: "tests of the transports", folders: ["transport"] },
  { name: "tests of events, advisories and OpenAPI", folders: ["events", "advisories", "openapi"] },
];

/** Without it, each step and each program that a test starts compiles the same thousand modules. */
const compileCache = path.resolve(".cache", "compiled");

/** Options of the processes that run tests. */
export interface TestOptions {
  /** The folder for temporary files; that of the system when absent. */
  readonly memoryFolder?: string | undefined;
  /** The database of tests that are for both; both when absent. */
  readonly database?: DatabaseKind;
  /** Whether long tests run a part of their cases only; false if absent. */
  readonly isQuick?: boolean;
}

/** Returns the steps of these test files, the longest first. */
export function testSteps(files: readonly string[], { memoryFolder, database, isQuick = false }: TestOptions): Step[] {
  const env = {
    NODE_COMPILE_CACHE: compileCache,
    ...process.env,
    ...(memoryFolder && { TMPDIR: memoryFolder }),
    ...(database && { [databasesVariable]: database }),
    [quickVariable]: isQuick ? "1" : "",
  };
  const newStep = (name: string, files: readonly string[], isLive = false): Step => ({
    name: database === "postgres" ? `${name} on PostgreSQL` : name,
    run: (print) => runTests(files, env, print),
    isLive,
  });
  const filesOf = Map.groupBy(files, (file) => ownSteps.find(({ folders }) => isIn(folders, file)));
  return [undefined, ...ownSteps].flatMap((own) => {
    const found = filesOf.get(own) ?? [];
    return found.length > 0 ? [newStep(own?.name ?? "tests", found, own === undefined)] : [];
  });
}

function isIn(folders: readonly string[], file: string): boolean {
  return folders.some((folder) => file.startsWith(`test/${folder}/`));
}

/** Returns the step that runs test files again at each change of what they import, until it is interrupted. */
export function watchStep(files: readonly string[]): Step {
  return { name: "watched tests", run: () => check(watchTests(files)), isLive: true };
}

export const sourceSteps: readonly Step[] = [
  { name: "format and lint (biome)", run: (print) => tool("biome", ["check", "--error-on-warnings"], print) },
  { name: "types (tsc)", run: (print) => checkTypes(".", print) },
  { name: "types of the console (tsc)", run: (print) => checkTypes("console", print) },
];

export const protoSteps: readonly Step[] = [
  { name: "protos: lint", run: (print) => tool("buf", ["lint", "proto"], print) },
  { name: "protos: format", run: (print) => tool("buf", ["format", "-d", "--exit-code", "proto"], print) },
  { name: "protos: no breaking change", run: (print) => check(checkBreaking(print)) },
  { name: "protos: generated code is up to date", run: (print) => check(checkGenerated(print)) },
];

export const lockFileStep: Step = { name: "lock file is complete", run: () => check(checkLockFile()) };

/** Checks what has changed since the last run, and what depends on it. */
function checkTypes(project: string, print?: Print): Promise<undefined> {
  const known = path.join(".cache", "types", `${project === "." ? "gatehouse" : project}.tsbuildinfo`);
  // In one thread: several check the common types once each, and the other lanes keep the processors busy.
  const args = ["-p", project, "--noEmit", "--singleThreaded", "--incremental", "--tsBuildInfoFile", known];
  return tool("tsc", args, print);
}

function tool(name: string, args: readonly string[], print?: Print): Promise<undefined> {
  return check(runTool(name, args, print));
}

async function check(checked: Promise<void>): Promise<undefined> {
  await checked;
  return undefined;
}
