import assert from "node:assert/strict";
import path from "node:path";
import { it } from "node:test";
import type { TestEvent } from "node:test/reporters";
import fileTimes from "./file-times.ts";
import { formatSummary } from "./summary.ts";

it("the summary shows each step with its result and time, the test files that failed, the ten slowest, and why tests failed", () => {
  const times = Array.from({ length: 12 }, (_, index) => ({
    file: path.resolve(`test/${index}.test.ts`),
    ms: index * 100,
    passed: 2,
    failed: index === 11 ? 1 : 0,
    skipped: 0,
    failures: index === 11 ? [{ name: "a list has pages", message: "Expected values to be equal:\n1 !== 2" }] : [],
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
      "                              failed test files:",
      "FAIL     1.1 s   2, 1 failed  test/11.test.ts",
      "                              slowest of 12 test files:",
      "FAIL     1.1 s   2, 1 failed  test/11.test.ts",
      ...[10, 9, 8, 7, 6, 5, 4, 3, 2].map(
        (index) => `ok       ${(index / 10).toFixed(1)} s             2  test/${index}.test.ts`,
      ),
      "",
      "test/11.test.ts: a list has pages",
      "  Expected values to be equal:",
      "  1 !== 2",
    ],
  );
});

it("the reporter adds up the tests of each file and the time of its outermost suites, and keeps why tests failed", async () => {
  const event = (type: "test:pass" | "test:fail", file: string, nesting: number, ms: number, more: object = {}) => ({
    type,
    data: { name: `takes ${ms} ms`, file, nesting, testNumber: 1, details: { duration_ms: ms, ...more } },
  });
  async function* events() {
    yield event("test:pass", "a.test.ts", 1, 5);
    yield event("test:fail", "a.test.ts", 1, 6, { error: new Error("test failed", { cause: new Error("1 !== 2") }) });
    yield event("test:fail", "a.test.ts", 0, 12, { type: "suite", error: new Error("1 subtest failed") });
    yield event("test:pass", "b.test.ts", 0, 3);
    yield event("test:pass", "a.test.ts", 0, 8);
  }
  const lines: unknown[] = [];
  for await (const line of fileTimes(events() as unknown as AsyncIterable<TestEvent>)) lines.push(JSON.parse(line));
  const failures = [{ name: "takes 6 ms", message: "1 !== 2" }];
  assert.deepEqual(lines, [
    { file: "a.test.ts", ms: 12, passed: 1, failed: 1, skipped: 0, failures },
    { file: "b.test.ts", ms: 3, passed: 1, failed: 0, skipped: 0, failures: [] },
    { file: "a.test.ts", ms: 20, passed: 2, failed: 1, skipped: 0, failures },
  ]);
});
