// The suites of `.ci/run` after `npm test`, in this order: they take longer, or need other programs.
import { globSync, rmSync } from "node:fs";
import path from "node:path";
import type { Step } from "./steps.ts";
import { runProgram } from "./tool.ts";

/** A suite of tests that `npm test` leaves out. */
export interface Suite {
  readonly name: string;
  /** A program with its arguments. */
  readonly command: readonly string[];
  /** The limit after which the suite is ended, in minutes: about twice its usual time. */
  readonly minutes: number;
  /** Only `.ci/run --all` runs it, or only `.ci/run` without: then another suite has its tests. */
  readonly only?: "all" | "short";
  /** Tests the package that the suite of a release has made. */
  readonly testsReleasedPackage?: boolean;
}

const node = (...args: readonly string[]): readonly string[] => [process.execPath, ...args];

/** A command that runs test files, each test in so many seconds. */
const tests = (seconds: number, ...files: readonly string[]): readonly string[] =>
  node("--test", "--test-isolation=none", `--test-timeout=${seconds * 1000}`, ...files);

const databases = ["failover", "pgbouncer", "replica", "tls"].map((name) => `test/storage/end-to-end/${name}.ts`);
const mainViews = ["walkthrough", "sign-in", "console"].map((view) => `test/browser/${view}.browser.ts`);
const realFiles = ["real/real", "real/osv-scanner", "openvex/end-to-end/go-vex"];
const real = realFiles.map((file) => `test/advisories/${file}.ts`);
const osv = "test/advisories/osv/end-to-end/osv.ts";

/** Every suite. `test/README.md` says what each needs. */
export const suites: readonly Suite[] = [
  // The test files that `npm test` leaves out. Some need programs that `.ci/run` installs after it.
  { name: "matrix", command: node("test/run/run.ts", "--full"), minutes: 30 },
  // The files run in processes of their own.
  { name: "database", command: node("--test", "--test-timeout=120000", ...databases), minutes: 10 },
  { name: "helm", command: tests(300, "test/deploy/helm.ts"), minutes: 10 },
  { name: "monitoring", command: tests(240, "test/deploy/monitoring.ts"), minutes: 10 },
  {
    name: "proxy",
    command: tests(120, "test/transport/end-to-end/proxy.ts", "test/transport/end-to-end/traces.ts"),
    minutes: 10,
  },
  { name: "envoy", command: tests(120, "test/integrations/envoy.ts"), minutes: 10 },
  { name: "registry", command: tests(180, "test/registry/end-to-end/docker-registry.ts"), minutes: 10 },
  { name: "scim", command: tests(300, "test/scim/end-to-end/testers.ts"), minutes: 10 },
  { name: "upgrade", command: tests(240, "test/upgrade/upgrade.ts"), minutes: 10 },
  { name: "client", command: tests(300, "test/packages/client/end-to-end.ts"), minutes: 10 },
  { name: "release", command: tests(900, "test/release/release.ts"), minutes: 30, only: "all" },
  { name: "package", command: tests(300, "test/packages/package.ts"), minutes: 10, testsReleasedPackage: true },
  {
    name: "image",
    command: tests(600, "test/deploy/compose.ts", "test/deploy/image.ts"),
    minutes: 30,
    only: "all",
    testsReleasedPackage: true,
  },
  { name: "dev", command: tests(180, "test/console/end-to-end/dev.ts"), minutes: 10 },
  { name: "main-views", command: tests(120, ...mainViews), minutes: 10, only: "short" },
  { name: "browser", command: tests(300, "test/browser/*.browser.ts"), minutes: 60, only: "all" },
  { name: "advisories", command: node("--use-system-ca", ...tests(300, ...real).slice(1)), minutes: 30, only: "all" },
  { name: "api-linter", command: tests(600, "test/api-linter/api-linter.ts"), minutes: 30, only: "all" },
  { name: "conformance", command: node("test/conformance/run.ts"), minutes: 30, only: "all" },
  {
    name: "oauth-clients",
    command: tests(240, "test/clients/end-to-end/discovery.ts", "test/clients/end-to-end/oauth-libraries.ts"),
    minutes: 30,
    only: "all",
  },
  { name: "examples", command: tests(1200, "test/integrations/examples.ts"), minutes: 30, only: "all" },
  { name: "generators", command: tests(900, "test/openapi/generators.ts"), minutes: 30, only: "all" },
  { name: "history", command: node("test/history/run.ts"), minutes: 30, only: "all" },
  { name: "go-code", command: tests(900, "test/console/reference/go-code.ts"), minutes: 30, only: "all" },
  { name: "keycloak", command: tests(600, "test/integrations/keycloak.ts"), minutes: 30, only: "all" },
  { name: "osv", command: node("--use-system-ca", ...tests(120, osv).slice(1)), minutes: 30, only: "all" },
  { name: "schemathesis", command: tests(600, "test/openapi/schemathesis.ts"), minutes: 30, only: "all" },
  { name: "python", command: tests(120, "test/clients/end-to-end/python.ts"), minutes: 10 },
];

/** Returns the named suites; without names all suites, or those of `.ci/run`. Throws for a name that no suite has. */
export function selectSuites(names: readonly string[], isAll: boolean): readonly Suite[] {
  const unknown = names.filter((name) => !suites.some((suite) => suite.name === name));
  if (unknown.length > 0)
    throw new Error(`no suite is named ${unknown.join(", ")}; there are ${suites.map(({ name }) => name).join(", ")}`);
  if (names.length > 0) return suites.filter(({ name }) => names.includes(name));
  const left = isAll ? "short" : "all";
  return suites.filter(({ only }) => only !== left);
}

/** Returns a suite as a step. In a run of all suites, some test the package that the suite of a release has made. */
export function suiteStep({ name, command, minutes, testsReleasedPackage = false }: Suite, isAll: boolean): Step {
  return {
    name,
    isLive: true,
    async run() {
      // An older package must not stand in for that of this run.
      if (name === "release") rmSync("dist/release", { recursive: true, force: true });
      console.log(`\n# ${name}`);
      const env = isAll && testsReleasedPackage ? { ...process.env, ...releasedPackage() } : process.env;
      await runProgram(command, { env, timeoutMs: minutes * 60_000 });
      return undefined;
    },
  };
}

function releasedPackage(): NodeJS.ProcessEnv {
  const [file] = globSync("dist/release/gatehouse-server-*.tgz");
  if (file === undefined) throw new Error("the suite of a release left no package in dist/release");
  return { GATEHOUSE_TEST_PACKAGE: path.resolve(file) };
}
