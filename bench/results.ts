// What a run found: written to results.json, and compared with what is there.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { fileURLToPath } from "node:url";
import type { MicroRow } from "./micro.ts";
import type { Row } from "./row.ts";

/** What an installation of one size is like before and after the load. */
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

const file = fileURLToPath(new URL("results.json", import.meta.url));

/** The machine that a result is from: absolute figures mean nothing on another. */
export function machine(): Pick<Results, "node" | "processor"> {
  return { node: process.version, processor: cpus()[0]?.model.trim() ?? "unknown" };
}

/** Writes results.json. */
export function recordResults(results: Results): string {
  const rounded = (_key: string, value: unknown) => (typeof value === "number" ? Number(value.toPrecision(4)) : value);
  writeFileSync(file, `${JSON.stringify(results, rounded, 2)}\n`);
  return file;
}

/** Reads results.json; undefined when there is none. */
export function readRecorded(): Results | undefined {
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Results) : undefined;
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
