// Reads what the load generators print.
import { percentile } from "./statistics.ts";

/** The measurements of a load generator. */
export interface LoadResult {
  readonly requests: number;
  readonly failed: number;
  readonly seconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** Reads the last line of wrk.lua. */
export function parseWrk(output: string): LoadResult {
  const line = output.trimEnd().split("\n").at(-1) ?? "";
  if (!line.startsWith("{")) throw new Error(`wrk: printed no result: ${output.slice(0, 200)}`);
  const { requests, failed, micros, p50Micros, p99Micros }: Record<string, number | undefined> = JSON.parse(line);
  const [seconds, p50Ms, p99Ms] = [number(micros) / 1e6, number(p50Micros) / 1e3, number(p99Micros) / 1e3];
  return { requests: number(requests), failed: number(failed), seconds, p50Ms, p99Ms };
}

/** Reads the totals of h2load. A request without success has failed, including statuses other than 2xx. */
export function parseH2load(output: string): Pick<LoadResult, "requests" | "failed"> {
  const totals = /^requests: \d+ total, \d+ started, (\d+) done, (\d+) succeeded/m.exec(output);
  const statuses = /^status codes: (\d+) 2xx/m.exec(output);
  if (!totals || !statuses) throw new Error(`h2load: printed no totals: ${output.slice(0, 200)}`);
  const done = Number(totals[1]);
  return { requests: done, failed: done - Math.min(Number(totals[2]), Number(statuses[1])) };
}

/** Reads the log of h2load: start, status and microseconds of every request. */
export function parseLatencies(log: string): Pick<LoadResult, "p50Ms" | "p99Ms"> {
  const lines = log.trimEnd().split("\n");
  const micros = Float64Array.from(lines, (line) => Number(line.split("\t")[2])).sort();
  return { p50Ms: percentile(micros, 50) / 1e3, p99Ms: percentile(micros, 99) / 1e3 };
}

function number(value: number | undefined): number {
  if (typeof value !== "number") throw new Error("wrk: a figure is missing from its result");
  return value;
}
