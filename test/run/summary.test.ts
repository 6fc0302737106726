import assert from "node:assert/strict";
import path from "node:path";
import { it } from "node:test";
import { formatSummary } from "./summary.ts";

it("the summary shows each step with its result and time, then the ten slowest test files of all steps", () => {
  const times = Array.from({ length: 12 }, (_, index) => ({
    file: path.resolve(`test/${index}.test.ts`),
    ms: index * 100,
    passed: 2,
    failed: index === 11 ? 1 : 0,
    skipped: 0,
  }));
  const summary = formatSummary([
    { name: "tests", ms: 12_345, times: times.slice(0, 6) },
    { name: "tests of security", ms: 2_000, times: times.slice(6), error: new Error("node ended with 1") },
    { name: "types (tsc)", ms: 900, times: [] },
  ]);
  assert.deepEqual(
    summary.split("\n").map((line) => line.trimEnd()),
    [
      "result    time         tests  step",
      "ok      12.3 s            12  tests",
      "FAIL     2.0 s  12, 1 failed  tests of security",
      "ok       0.9 s                types (tsc)",
      "                              slowest of 12 test files:",
      "FAIL     1.1 s   2, 1 failed  test/11.test.ts",
      ...[10, 9, 8, 7, 6, 5, 4, 3, 2].map(
        (index) => `ok       ${(index / 10).toFixed(1)} s             2  test/${index}.test.ts`,
      ),
    ],
  );
});
