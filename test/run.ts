// `npm test`: everything that a change must pass, each part by its own tool. Fails at the end if any part failed.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

interface Step {
  readonly name: string;
  /** Throws, or exits otherwise than with 0, when the part fails. */
  run(): void;
}

const steps: readonly Step[] = [
  { name: "format and lint (biome)", run: () => tool("biome", ["check", "--error-on-warnings"]) },
  { name: "protos: lint", run: () => tool("buf", ["lint", "proto"]) },
  { name: "protos: format", run: () => tool("buf", ["format", "-d", "--exit-code", "proto"]) },
  { name: "protos: no breaking change", run: checkBreaking },
  { name: "protos: generated code is up to date", run: checkGenerated },
  { name: "lock file is complete", run: checkLockFile },
  { name: "types (tsc)", run: () => tool("tsc", ["--noEmit"]) },
  {
    name: "tests",
    run: () => tool("node", ["--test", "--test-isolation=none", "--test-timeout=180000", ...testFiles()]),
  },
];

const failed = steps.filter(({ name, run }) => {
  const startedAt = Date.now();
  try {
    run();
    console.log(`ok    ${name} (${((Date.now() - startedAt) / 1000).toFixed(1)} s)`);
    return false;
  } catch (error) {
    console.error(`FAIL  ${name}: ${error instanceof Error ? error.message : error}`);
    return true;
  }
});
process.exitCode = failed.length === 0 ? 0 : 1;

function tool(name: string, args: readonly string[], cwd = "."): void {
  const { status, error } = spawnSync(path.resolve("node_modules/.bin", name), args, { stdio: "inherit", cwd });
  if (error) throw error;
  if (status !== 0) throw new Error(`${name} ended with ${status}`);
}

/** The test files named on the command line, or all of them. */
function testFiles(): string[] {
  const named = process.argv.slice(2);
  return named.length > 0 ? named : ["test/**/*.test.ts", "bench/test/**/*.test.ts"];
}

/** Generates into a temporary folder and compares: what is committed is what the protos say. */
function checkGenerated(): void {
  const folder = mkdtempSync(path.join(tmpdir(), "gatehouse-gen-"));
  try {
    tool("buf", ["generate", "--output", folder]);
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
function checkBreaking(): void {
  const base = previousRevision();
  if (base === undefined) {
    console.log("      there is no earlier revision with protos to compare with");
    return;
  }
  const worktree = path.resolve(".base");
  rmSync(worktree, { recursive: true, force: true });
  git(["worktree", "prune"]);
  git(["worktree", "add", "--detach", worktree, base]);
  try {
    symlinkSync(path.resolve("node_modules"), path.join(worktree, "node_modules"));
    tool("buf", ["breaking", "proto", "--against", ".base/proto"]);
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
function checkLockFile(): void {
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
