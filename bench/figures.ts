// The figures of docs/design/performance.md, as rows of its tables.
import { suites } from "./options.ts";
import { type Results, readRecorded } from "./results.ts";

/** The page with the figures. */
export const figuresPage = "docs/design/performance.md";

/** Returns the text of the page with the recorded figures in every row that begins with the name of something measured. */
export function withRecordedFigures(text: string): string {
  // The first suite with a name counts: others have its baseline, too.
  const rows = new Map(
    suites
      .toReversed()
      .flatMap((suite) => rowsOf(readRecorded(suite)))
      .map((row) => [row[0], row]),
  );
  return text
    .split("\n")
    .map((line) => {
      const row = rows.get(/^\| (.*?) \|/.exec(line)?.[1] ?? "");
      return row ? `| ${row.join(" | ")} |` : line;
    })
    .join("\n");
}

function rowsOf(recorded: Results | undefined): string[][] {
  if (!recorded) return [];
  const scenarios = recorded.scenarios.map((row) => {
    const [cpu, p99] = [row.cpuMicros, row.p99Ms].map(optional);
    const ratio = row.ratio === null ? "" : figure(row.ratio);
    return [row.name, cpu!, figure(row.requestsPerSecond), figure(row.p50Ms), p99!, ratio];
  });
  const processes = recorded.processes.map((row) => [
    row.name,
    figure(row.firstAnswerMs),
    figure(row.idleMib),
    figure(row.loadedMib),
  ]);
  return [...scenarios, ...processes, ...partRows(recorded)];
}

/** Those of two sizes only: the same names are measured at others. */
function partRows({ parts }: Results): string[][] {
  const sizes = Object.values(parts);
  if (sizes.length !== 2) return [];
  return sizes[0]!.map(({ name, micros }) => [
    name,
    figure(micros),
    figure(sizes[1]!.find((row) => row.name === name)?.micros ?? Number.NaN),
  ]);
}

/** JSON has null for what is not a number. */
function optional(value: number | null): string {
  return value === null || Number.isNaN(value) ? "" : figure(value);
}

/** Three digits, or all before the point. */
function figure(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3);
}
