// PostgreSQL of Debian with its default settings, and pgbench.
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { debianPostgres, startDebianPostgres } from "../test/harness/debian-postgres.ts";
import type { LoadResult } from "./load-output.ts";
import { UsageError } from "./options.ts";
import { type Cores, loadCore, pinned, type ServerProcess, serverCore } from "./server-process.ts";

/** A running PostgreSQL. Disposing of it ends it. */
export interface Postgres extends ServerProcess {
  url(database: string): string;
  query(statement: string): Promise<Record<string, unknown>[]>;
}

/** 100,000 accounts for each unit: enough that clients rarely update the same row. */
const pgbenchScale = 10;

const run = promisify(execFile);

/** Starts it on a directory, in which it creates its data if there are none. The server under test has the other core for itself. */
export async function startPostgres(directory: string, cores: Cores): Promise<Postgres> {
  if (debianPostgres === undefined)
    throw new UsageError("there is no PostgreSQL; install by: apt-get install postgresql");
  const server = await startDebianPostgres({ directory });
  const pid = Number(readFileSync(path.join(server.directory, "data", "postmaster.pid"), "utf8").split("\n")[0]);
  // Its later processes inherit the cores.
  const [, list = ""] = pinned(loadCore, cores);
  await run("taskset", ["--all-tasks", "--cpu-list", "--pid", list, String(pid)]);
  return {
    pid,
    port: server.port,
    url: server.url,
    query: server.query,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** Creates the tables of pgbench in a database. */
export async function preparePgbench(url: string): Promise<void> {
  await run("pgbench", ["--initialize", "--quiet", `--scale=${pgbenchScale}`, url]);
}

/** Runs pgbench with prepared statements on one thread for so many whole seconds. It has the core that Gatehouse has otherwise. */
export async function loadPgbench(
  url: string,
  script: "--select-only" | "--skip-some-updates",
  clients: number,
  seconds: number,
): Promise<LoadResult> {
  const shape = [`--client=${clients}`, "--jobs=1", "--protocol=prepared", "--no-vacuum"];
  // A second more, because the clients connect within this time, which does not count for its figures.
  const time = `--time=${seconds + 1}`;
  const args = [...pinned(serverCore, "one"), "pgbench", script, ...shape, time, url];
  return parsePgbench((await run("taskset", args)).stdout);
}

/** Reads the report of pgbench, which has the mean latency and no percentiles. */
export function parsePgbench(output: string): LoadResult {
  const requests = numberIn(output, /^number of transactions actually processed: (\d+)/m);
  // On a machine that stands still for its time it prints no rate.
  if (requests === 0) return { requests, failed: 0, seconds: 1, p50Ms: Number.NaN, p99Ms: Number.NaN };
  const failed = numberIn(output, /^number of failed transactions: (\d+)/m);
  const perSecond = numberIn(output, /^tps = ([\d.]+)/m);
  const p50Ms = numberIn(output, /^latency average = ([\d.]+) ms/m);
  return { requests, failed, seconds: requests / perSecond, p50Ms, p99Ms: Number.NaN };
}

function numberIn(output: string, pattern: RegExp): number {
  const [, text] = pattern.exec(output) ?? [];
  if (text === undefined) throw new Error(`pgbench: printed no ${pattern.source}: ${output.slice(0, 200)}`);
  return Number(text);
}
