// Records the results of a run by suite, and compares them with those recorded before.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { fileURLToPath } from "node:url";
import type { MicroRow } from "./micro.ts";
import type { Suite } from "./options.ts";
import type { Row } from "./row.ts";

/** The start, memory and storage of an installation of one size before and after the load. */
export interface ProcessRow {
  readonly name: string;
  readonly firstAnswerMs: number;
  readonly idleMib: number;
  readonly loadedMib: number;
}

/** Everything that a run found. */
export interface Results {
  readonly node: string;
  readonly processor: string;
  readonly scenarios: readonly Row[];
  readonly processes: readonly ProcessRow[];
  /** The parts in process, by the size of the data. */
  readonly parts: Readonly<Record<string, readonly MicroRow[]>>;
}

/** A ratio that is worse than this share of the recorded one fails. */
const tolerated = 0.9;

/** Where the results of a suite are recorded. */
function fileOf(suite: Suite): string {
  return fileURLToPath(new URL(suite === "groups" ? "results.json" : `results-${suite}.json`, import.meta.url));
}

/** Returns the machine that a result is from: absolute figures mean nothing on another. */
export function machine(): Pick<Results, "node" | "processor"> {
  return { node: process.version, processor: cpus()[0]?.model.trim() ?? "unknown" };
}

/** Records the results of a suite. Returns the name of the file. */
export function recordResults(suite: Suite, results: Results): string {
  const rounded = (_key: string, value: unknown) => (typeof value === "number" ? Number(value.toPrecision(4)) : value);
  const file = fileOf(suite);
  writeFileSync(file, `${JSON.stringify(results, rounded, 2)}\n`);
  return file;
}

/** Reads the recorded results of a suite; undefined when there are none. */
export function readRecorded(suite: Suite): Results | undefined {
  const file = fileOf(suite);
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Results) : undefined;
}

/** Returns the recorded results with the rows of a run that measured only some of them. */
export function merged(recorded: Results, current: Results): Results {
  return {
    ...current,
    scenarios: mergedRows(recorded.scenarios, current.scenarios),
    processes: mergedRows(recorded.processes, current.processes),
    parts: { ...recorded.parts, ...current.parts },
  };
}

function mergedRows<R extends { readonly name: string }>(recorded: readonly R[], current: readonly R[]): R[] {
  const changed = new Map(current.map((row) => [row.name, row]));
  const known = new Set(recorded.map(({ name }) => name));
  return [...recorded.map((row) => changed.get(row.name) ?? row), ...current.filter(({ name }) => !known.has(name))];
}

/** One sentence for every ratio that is more than 10 % worse than the recorded one. What is not in both is not compared. */
export function regressions(recorded: Results, current: Results): string[] {
  const before = ratiosOf(recorded);
  return [...ratiosOf(current)].flatMap(([name, ratio]) => {
    const old = before.get(name);
    if (old === undefined || ratio >= old * tolerated) return [];
    const worse = Math.round(100 * (1 - ratio / old));
    return [`${name}: ratio ${ratio.toPrecision(3)}, recorded ${old.toPrecision(3)}: ${worse} % worse`];
  });
}

function ratiosOf({ scenarios, parts }: Results): Map<string, number> {
  const outside = scenarios.flatMap(({ name, ratio }): [string, number][] => (ratio === null ? [] : [[name, ratio]]));
  const inside = Object.entries(parts).flatMap(([size, rows]) =>
    rows.map(({ name, ratio }): [string, number] => [`${name} (${size})`, ratio]),
  );
  return new Map([...outside, ...inside]);
}
