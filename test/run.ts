// `npm test`: everything that a change must pass, each part by its own tool. Fails at the end if any part failed.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  globSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import path from "node:path";

interface Step {
  readonly name: string;
  /** Rejects when the part fails. What its tools print goes to `print`, which is absent where they may print by themselves. */
  run(print?: Print): Promise<void>;
  /** Whether its output is shown as it comes; of several steps at a time only one may be. */
  readonly isLive?: boolean;
}

type Print = (text: string) => void;

/** How many steps run at a time: one more than there are processors, since tests wait for databases and for processes. */
const lanes = Math.min(3, availableParallelism() + 1);

/** Bytes: what the databases of three lanes take, and as much again. */
const memoryNeeded = 4 * 2 ** 30;

/** Milliseconds that a tool may take: some three times what the longest takes where processors are slow. */
const toolTimeout = 15 * 60_000;

const files = testFiles();
/** The tests that run beside the others, each of about a sixth of the work, the longest first: more in one process have more to collect. */
const beside = [
  { name: "tests of the API cases", folder: "test/api/" },
  { name: "tests of security", folder: "test/security/" },
  { name: "tests of the command line", folder: "test/cli/" },
  { name: "tests of the storage", folder: "test/storage/" },
  { name: "tests of the transports", folder: "test/doors/" },
].map(({ name, folder }) => ({ name, files: files.filter((file) => file.startsWith(folder)) }));
const others = files.filter((file) => !beside.some((step) => step.files.includes(file)));
const steps: readonly Step[] = [
  { name: "tests", run: (print) => tests(others, print), isLive: true },
  ...beside.map(({ name, files }) => ({ name, run: (print?: Print) => tests(files, print) })),
  { name: "format and lint (biome)", run: (print) => tool("biome", ["check", "--error-on-warnings"], print) },
  { name: "protos: lint", run: (print) => tool("buf", ["lint", "proto"], print) },
  { name: "protos: format", run: (print) => tool("buf", ["format", "-d", "--exit-code", "proto"], print) },
  { name: "protos: no breaking change", run: checkBreaking },
  { name: "protos: generated code is up to date", run: checkGenerated },
  { name: "lock file is complete", run: checkLockFile },
  { name: "types (tsc)", run: (print) => tool("tsc", ["--noEmit"], print) },
];

const waiting = [...steps];
const failed: string[] = [];
const memory = memoryFolder();
process.once("exit", () => memory && rmSync(memory, { recursive: true, force: true, maxRetries: 3 }));
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));
// Before any test starts a server.
await runStep({ name: "bundle of the server", run: (print) => tool("node", ["src/bundle/make.js"], print) });
await Promise.all(Array.from({ length: lanes }, runWaiting));
if (failed.length > 0) {
  console.error(`\nfailed: ${failed.join(", ")}`);
  process.exitCode = 1;
}

/** Takes step after step until none waits. */
async function runWaiting(): Promise<void> {
  for (let step = waiting.shift(); step; step = waiting.shift()) await runStep(step);
}

async function runStep({ name, run, isLive = false }: Step): Promise<void> {
  const startedAt = Date.now();
  let output = "";
  const print: Print | undefined = isLive
    ? undefined
    : (text) => {
        output += text;
      };
  try {
    await run(print);
    // What the test runner counts is worth a look even when all is well.
    for (const line of output.split("\n").filter((text) => text.startsWith("ℹ "))) console.log(line);
    console.log(`ok    ${name} (${((Date.now() - startedAt) / 1000).toFixed(1)} s)`);
  } catch (error) {
    process.stdout.write(output);
    console.error(`FAIL  ${name}: ${error instanceof Error ? error.message : error}`);
    failed.push(name);
  }
}

async function tool(name: string, args: readonly string[], print?: Print, env = process.env): Promise<void> {
  const stdio = print ? "pipe" : "inherit";
  const child = spawn(path.resolve("node_modules/.bin", name), args, {
    stdio: ["ignore", stdio, stdio],
    env,
    // A test that leaves its process no turn of the event loop can be ended neither by the runner's limit nor by a signal it handles.
    timeout: toolTimeout,
    killSignal: "SIGKILL",
  });
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding("utf8").on("data", (text) => print?.(text));
  const [status, signal] = await once(child, "close");
  if (status !== 0) throw new Error(`${name} ended with ${status ?? signal}`);
}

async function tests(named: readonly string[], print?: Print): Promise<void> {
  if (named.length === 0) return;
  const env = memory ? { ...process.env, TMPDIR: memory } : process.env;
  await tool("node", ["--test", "--test-isolation=none", "--test-timeout=180000", ...named], print, env);
}

/**
 * A folder for the temporary files of the tests that lies in memory: a server flushes each write, and a disk takes milliseconds
 * for that. Undefined where the system has none, or none with enough room that programs may be started from.
 */
function memoryFolder(): string | undefined {
  const place = "/dev/shm";
  if (process.env.TMPDIR || !existsSync(place)) return undefined;
  const { bavail, bsize } = statfsSync(place);
  if (bavail * bsize < memoryNeeded) return undefined;
  const folder = mkdtempSync(`${place}/gatehouse-tests-`);
  // PostgreSQL runs as another user where the tests run as root.
  chmodSync(folder, 0o711);
  const program = path.join(folder, "program");
  try {
    writeFileSync(program, "#!/bin/sh\n", { mode: 0o700 });
    execFileSync(program);
    return folder;
  } catch {
    rmSync(folder, { recursive: true });
    return undefined;
  }
}

/** The test files named on the command line, or all of them. */
function testFiles(): string[] {
  const named = process.argv.slice(2);
  return named.length > 0 ? named : globSync(["test/**/*.test.ts", "bench/test/**/*.test.ts"]).sort();
}

/** Generates into a temporary folder and compares: what is committed is what the protos say. */
async function checkGenerated(print?: Print): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), "gatehouse-gen-"));
  try {
    await tool("buf", ["generate", "--output", folder], print);
    const fresh = filesBelow(path.join(folder, "gen"));
    const committed = filesBelow("gen");
    const differs = [...new Set([...fresh.keys(), ...committed.keys()])].filter(
      (file) => fresh.get(file) !== committed.get(file),
    );
    if (differs.length > 0) throw new Error(`run npm run generate; these differ: ${differs.join(", ")}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function filesBelow(folder: string): Map<string, string> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return new Map(
    entries.map((entry) => {
      const file = path.join(entry.parentPath, entry.name);
      return [path.relative(folder, file), readFileSync(file, "utf8")];
    }),
  );
}

/** Compares with the previous revision: with HEAD while there are uncommitted protos, else with its parent. */
async function checkBreaking(print?: Print): Promise<void> {
  const base = previousRevision();
  if (base === undefined) {
    print?.("there is no earlier revision with protos to compare with\n");
    return;
  }
  const worktree = path.resolve(".base");
  rmSync(worktree, { recursive: true, force: true });
  git(["worktree", "prune"]);
  git(["worktree", "add", "--detach", worktree, base]);
  try {
    symlinkSync(path.resolve("node_modules"), path.join(worktree, "node_modules"));
    await tool("buf", ["breaking", "proto", "--against", ".base/proto"], print);
  } finally {
    git(["worktree", "remove", "--force", worktree]);
  }
}

function previousRevision(): string | undefined {
  if (!existsSync(".git")) return undefined;
  const isChanged = git(["status", "--porcelain", "--", "proto"]) !== "";
  const base = isChanged ? "HEAD" : "HEAD~1";
  try {
    return git(["ls-tree", "--name-only", base, "--", "proto/", "buf.yaml"]) === "" ? undefined : base;
  } catch {
    // A shallow or new checkout has no parent.
    return undefined;
  }
}

function git(args: readonly string[]): string {
  return execFileSync("git", [...args], { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }).trim();
}

/** Every optional dependency of every package must be in the lock file, or `npm ci` fails on another platform. */
async function checkLockFile(): Promise<void> {
  const { packages }: { packages: Record<string, { optionalDependencies?: Record<string, string> }> } = JSON.parse(
    readFileSync("package-lock.json", "utf8"),
  );
  const names = new Set(
    Object.keys(packages).map((key) => key.slice(key.lastIndexOf("node_modules/") + "node_modules/".length)),
  );
  const missing = Object.entries(packages).flatMap(([key, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies)
      .filter((name) => !names.has(name))
      .map((name) => `${name} (wanted by ${key || "this project"})`),
  );
  if (missing.length > 0) throw new Error(`missing: ${missing.join(", ")}`);
}
