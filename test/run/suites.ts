// The suites of `.ci/run` after `npm test`, in this order: they need other programs.
import { globSync, rmSync } from "node:fs";
import path from "node:path";
import type { Step } from "./steps.ts";
import { runProgram } from "./tool.ts";

/** A suite of tests that `npm test` leaves out. */
export interface Suite {
  readonly name: string;
  /** A program with its arguments. */
  readonly command: readonly string[];
  /** Only `.ci/run --all` runs it, or only `.ci/run` without: then another suite has its tests. */
  readonly only?: "all" | "short";
  /** Tests the package that the suite of a release has made. */
  readonly testsReleasedPackage?: boolean;
}

const script = (name: string, ...args: readonly string[]): readonly string[] => ["npm", "run", `test:${name}`, ...args];
const testFiles = (...files: readonly string[]): readonly string[] => [
  "npx",
  "node",
  "--test",
  "--test-isolation=none",
  "--test-timeout=120000",
  ...files,
];
const mainViews = ["walkthrough", "sign-in", "console"].map((view) => `test/browser/${view}.browser.ts`);

/** Every script `test:…` of package.json is in it once. */
export const suites: readonly Suite[] = [
  { name: "database", command: script("database") },
  { name: "helm", command: script("helm") },
  { name: "monitoring", command: script("monitoring") },
  { name: "proxy", command: script("proxy") },
  { name: "Envoy", command: script("envoy") },
  { name: "registry", command: script("registry") },
  { name: "scim", command: script("scim") },
  { name: "upgrade", command: script("upgrade") },
  { name: "client", command: script("client") },
  { name: "release", command: script("release"), only: "all" },
  { name: "package", command: script("package"), testsReleasedPackage: true },
  { name: "image", command: script("image"), only: "all", testsReleasedPackage: true },
  { name: "browser: the main views", command: testFiles(...mainViews), only: "short" },
  { name: "browser", command: script("browser"), only: "all" },
  { name: "advisories", command: script("advisories"), only: "all" },
  { name: "API linter", command: script("api-linter"), only: "all" },
  { name: "conformance", command: script("conformance"), only: "all" },
  { name: "discovery", command: script("discovery"), only: "all" },
  { name: "examples", command: script("examples"), only: "all" },
  { name: "generators", command: script("generators"), only: "all" },
  { name: "history", command: script("history"), only: "all" },
  { name: "keycloak", command: script("keycloak"), only: "all" },
  { name: "osv", command: script("osv"), only: "all" },
  { name: "schemathesis", command: script("schemathesis"), only: "all" },
  { name: "client of Python", command: testFiles("test/clients/end-to-end/python.ts") },
  // These skip what needs a program that was not there when `npm test` ran.
  { name: "commands of the documentation", command: testFiles("test/documentation/commands.test.ts") },
];

/** Twice what the longest suite takes. A suite of the short run takes two minutes at most. */
const timeoutMs = { all: 30 * 60_000, short: 10 * 60_000 };

/** Returns the suites of `.ci/run`, or all suites, as steps. */
export function suiteSteps(isAll: boolean): Step[] {
  const left = isAll ? "short" : "all";
  return suites.filter(({ only }) => only !== left).map((suite) => suiteStep(suite, isAll));
}

function suiteStep({ name, command, testsReleasedPackage = false }: Suite, isAll: boolean): Step {
  return {
    name,
    isLive: true,
    async run() {
      // An older package must not stand in for that of this run.
      if (name === "release") rmSync("dist/release", { recursive: true, force: true });
      console.log(`\n# ${name}`);
      const env = isAll && testsReleasedPackage ? { ...process.env, ...releasedPackage() } : process.env;
      await runProgram(command, { env, timeoutMs: isAll ? timeoutMs.all : timeoutMs.short });
      return undefined;
    },
  };
}

function releasedPackage(): NodeJS.ProcessEnv {
  const [file] = globSync("dist/release/gatehouse-server-*.tgz");
  if (file === undefined) throw new Error("the suite of a release left no package in dist/release");
  return { GATEHOUSE_TEST_PACKAGE: path.resolve(file) };
}
