// The table at the end of `npm test`.
import path from "node:path";
import type { FileTime } from "./file-times.ts";
import type { StepResult } from "./run-steps.ts";

const slowestShown = 10;

/**
 * Formats the results of the steps, the test files that failed, and the slowest test files of all steps as one table of text. Below it
 * stand the tests that failed with their messages: they would be far above, or cut from a log.
 */
export function formatSummary(results: readonly StepResult[]): string {
  const tests = results.flatMap(({ times }) => times);
  const slowest = tests.toSorted((a, b) => b.ms - a.ms).slice(0, slowestShown);
  const failed = tests.filter((each) => each.failed > 0);
  const rows = [
    ["result", "time", "tests", "step"],
    ...results.map(({ name, ms, times, error }) => [
      error === undefined ? "ok" : "FAIL",
      seconds(ms),
      times.length > 0 ? counts(times) : "",
      name,
    ]),
    ...section("failed test files:", failed),
    ...section(`slowest of ${tests.length} test files:`, slowest),
  ];
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => row[column]!.length)));
  const table = rows.map(([result, time, tests, name]) =>
    [result!.padEnd(widths[0]!), time!.padStart(widths[1]!), tests!.padStart(widths[2]!), name!].join("  "),
  );
  return [...table, ...failed.flatMap(failures)].join("\n");
}

function failures({ file, failures }: FileTime): string[] {
  return failures.flatMap(({ name, message }) => [
    `\n${fileName(file)}: ${name}`,
    ...message.split("\n").map((line) => `  ${line}`),
  ]);
}

function section(title: string, times: StepResult["times"]): string[][] {
  if (times.length === 0) return [];
  const rows = times.map((each) => [
    each.failed > 0 ? "FAIL" : "ok",
    seconds(each.ms),
    counts([each]),
    fileName(each.file),
  ]);
  return [["", "", "", title], ...rows];
}

function counts(times: StepResult["times"]): string {
  const sum = (key: "passed" | "failed" | "skipped") => times.reduce((total, each) => total + each[key], 0);
  const extra = [sum("failed") > 0 && `${sum("failed")} failed`, sum("skipped") > 0 && `${sum("skipped")} skipped`];
  return [`${sum("passed")}`, ...extra.filter((text) => text !== false)].join(", ");
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

function fileName(file: string): string {
  return path.relative(process.cwd(), file).split(path.sep).join("/");
}
