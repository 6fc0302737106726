// The tables that a run prints.
import type { Results } from "./results.ts";
import type { Row } from "./row.ts";

/** Everything that a run found, as text. */
export function formatResults({ scenarios, processes, parts, node, processor }: Results): string {
  return [
    `Node ${node}, ${processor}; one core for the server, one for the load, unless a row says "all cores" or "one process".`,
    "HTTP/1.1: 32 connections; HTTP/2: 4 connections of 8 streams. Ratio: speed relative to the baseline next to it.",
    formatTable(
      ["", "CPU µs", "requests/s", "p50 ms", "p99 ms", "RssAnon MiB", "ratio", "baseline"],
      [
        ...scenarios.map((row) => [
          row.name,
          figure(row.cpuMicros, 1),
          figure(row.requestsPerSecond, 0),
          figure(row.p50Ms, 2),
          figure(row.p99Ms, 2),
          figure(row.memoryMib, 0),
          row.ratio === null ? "" : figure(row.ratio, 3),
          row.baseline ?? "",
        ]),
      ],
    ),
    ...titled("CPU time per request against the smallest size:", ["", ...growthSizes(scenarios)], growth(scenarios)),
    ...titled(
      "Processes:",
      ["", "first answer ms", "RssAnon idle MiB", "under load MiB"],
      processes.map(({ name, firstAnswerMs, idleMib, loadedMib }) => [
        name,
        figure(firstAnswerMs, 0),
        figure(idleMib, 0),
        figure(loadedMib, 0),
      ]),
    ),
    ...titled("In process, µs:", ["", ...Object.keys(parts)], partRows(parts)),
  ].join("\n\n");
}

/** Returns a table with its title; nothing if the run has no rows for it. */
function titled(title: string, head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  return rows.length === 0 ? [] : [title, formatTable(head, rows)];
}

/** Columns as wide as their widest cell, the first one to the left. */
export function formatTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]) =>
    widths.map((width, i) => (i === 0 ? (row[i] ?? "").padEnd(width) : (row[i] ?? "").padStart(width))).join("  ");
  return all.map((row) => line(row).trimEnd()).join("\n");
}

/** Returns, for each subject measured at several sizes, the CPU times as multiples of that of the smallest size. */
export function growth(scenarios: readonly Row[]): string[][] {
  return [...bySubject(scenarios)].map(([subject, sizes]) => {
    const [smallest] = sizes.values();
    return [
      subject,
      ...growthSizes(scenarios).map((size) => {
        const cpuMicros = sizes.get(size);
        return cpuMicros === undefined || smallest === undefined ? "" : `${(cpuMicros / smallest).toFixed(2)}x`;
      }),
    ];
  });
}

/** Returns the names of the sizes that some scenario was measured at. */
function growthSizes(scenarios: readonly Row[]): string[] {
  return [...new Set([...bySubject(scenarios).values()].flatMap((sizes) => [...sizes.keys()]))];
}

/** CPU time by what is measured and by size, which is the last word of a name. */
function bySubject(scenarios: readonly Row[]): Map<string, Map<string, number>> {
  const found = new Map<string, Map<string, number>>();
  for (const { name, cpuMicros } of scenarios) {
    const match = /^(.*) (\d+[kM]?)$/.exec(name);
    if (!match) continue;
    const [, subject = "", size = ""] = match;
    found.set(subject, (found.get(subject) ?? new Map()).set(size, cpuMicros));
  }
  return new Map([...found].filter(([, sizes]) => sizes.size > 1));
}

function partRows(parts: Results["parts"]): string[][] {
  const columns = Object.values(parts);
  return (columns[0] ?? []).map(({ name }) => [
    name,
    ...columns.map((rows) => figure(rows.find((row) => row.name === name)?.micros ?? Number.NaN, 2)),
  ]);
}

function figure(value: number | null, digits: number): string {
  return value === null || Number.isNaN(value) ? "-" : value.toFixed(digits);
}
