// The figures of docs/design/performance.md are those of the run that is recorded.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { it } from "node:test";
import { readRecorded } from "../../bench/results.ts";

const page = "docs/design/performance.md";

it(`${page} has the figures of bench/results.json`, () => {
  const recorded = readRecorded();
  assert.ok(recorded);
  const scenarios = recorded.scenarios.map((row) => {
    const cpu = Number.isFinite(row.cpuMicros) && row.cpuMicros !== null ? figure(row.cpuMicros) : "";
    const ratio = row.ratio === null ? "" : figure(row.ratio);
    return [row.name, cpu, figure(row.requestsPerSecond), figure(row.p50Ms), figure(row.p99Ms), ratio];
  });
  const processes = recorded.processes.map((row) => [
    row.name,
    figure(row.firstAnswerMs),
    figure(row.idleMib),
    figure(row.loadedMib),
  ]);
  const measured = new Map([...scenarios, ...processes].map((row) => [row[0]!, `| ${row.join(" | ")} |`]));
  const rows = readFileSync(page, "utf8")
    .split("\n")
    .filter((line) => measured.has(nameOf(line)));
  assert.ok(rows.length > 10);
  assert.deepEqual(
    rows,
    rows.map((line) => measured.get(nameOf(line))),
  );
});

function nameOf(line: string): string {
  return /^\| (.*?) \|/.exec(line)?.[1] ?? "";
}

/** Three digits, or all before the point. */
function figure(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3);
}
