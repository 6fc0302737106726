// The list of `.ci/run --all` is complete: what it leaves out would break without anybody noticing.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { it } from "node:test";
import { suiteSteps, suites } from "./suites.ts";

const { scripts }: { scripts: Record<string, string> } = JSON.parse(readFileSync("package.json", "utf8"));
const run = suites.map(({ command }) => command.join(" "));

it("every script of tests is a suite, once", () => {
  const names = Object.keys(scripts).filter((name) => name.startsWith("test:"));
  const named = run.flatMap((command) => /^npm run (test:\S+)/.exec(command)?.[1] ?? []);
  assert.deepEqual(named.sort(), names.sort());
});

it("every file that a suite names is there", () => {
  const files = run.flatMap((command) => command.match(/\btest\/\S+\.ts\b/g) ?? []);
  assert.ok(files.length > 0);
  assert.deepEqual(
    files.filter((file) => !existsSync(file)),
    [],
  );
});

it("what only the short run has is a part of a suite of all", () => {
  const views = suites.find(({ only }) => only === "short")!.command.filter((word) => word.endsWith(".ts"));
  const every = suiteSteps(true).map(({ name }) => name);
  assert.ok(every.includes("browser"));
  for (const view of views) assert.match(view, /^test\/browser\/[a-z-]+\.browser\.ts$/);
});
