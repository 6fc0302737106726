// Load from outside: wrk for HTTP/1.1 and h2load for HTTP/2, bounded in time and connections.
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type LoadResult, parseH2load, parseLatencies, parseWrk } from "./load-output.ts";
import { type Cores, loadCore, pinned } from "./server-process.ts";

/** Headers by name. */
export type Headers = Readonly<Record<string, string>>;

/** Requests over HTTP/1.1, sent in turn. */
export interface Http1Load {
  /** Whether another load, which is measured, has the core first; false when absent. */
  readonly isBackground?: boolean;
  /** The cores of the load generator; one when absent. */
  readonly cores?: Cores;
  readonly port: number;
  readonly connections: number;
  readonly headers: Headers;
  readonly requests: readonly { readonly method: string; readonly path: string; readonly body?: string }[];
}

/** One request over HTTP/2, sent again and again on 4 connections of 8 streams. */
export interface Http2Load {
  /** The cores of the load generator; one when absent. */
  readonly cores?: Cores;
  readonly port: number;
  readonly headers: Headers;
  readonly path: string;
  readonly body: Uint8Array;
}

/** Connections and streams of an HTTP/2 load: figures compare only at the same shape. */
const http2Shape = { connections: 4, streams: 8 } as const;

const script = fileURLToPath(new URL("wrk.lua", import.meta.url));

/** Runs wrk for so many whole seconds. */
export async function loadHttp1(load: Http1Load, seconds: number) {
  const { port, connections, headers, requests, isBackground = false, cores = "one" } = load;
  return await withTemporary(async (folder) => {
    const file = path.join(folder, "requests");
    writeFileSync(file, requests.map(({ method, path: to, body = "" }) => `${method}\t${to}\t${body}\n`).join(""));
    const flags = [
      `-t${threadsOf(cores)}`,
      `-c${connections}`,
      `-d${seconds}s`,
      "--latency",
      "-s",
      script,
      ...headerFlags(headers),
    ];
    const args = [...flags, `http://127.0.0.1:${port}`, "--", file];
    return parseWrk(await (isBackground ? run(cores, "nice", ["-n", "19", "wrk", ...args]) : run(cores, "wrk", args)));
  });
}

/** Returns a load whose every run goes on where the one before ended: by what was asked last, the server would remember it. */
export function resumedHttp1(load: Http1Load): (seconds: number) => Promise<LoadResult> {
  const { requests } = load;
  let at = 0;
  return async (seconds) => {
    const result = await loadHttp1({ ...load, requests: [...requests.slice(at), ...requests.slice(0, at)] }, seconds);
    at = (at + result.requests) % requests.length;
    return result;
  };
}

/** Runs h2load for so many whole seconds. It counts statuses of HTTP only: that of gRPC is for a real client to check. */
export async function loadHttp2(load: Http2Load, seconds: number): Promise<LoadResult> {
  const { port, headers, path: to, body, cores = "one" } = load;
  return await withTemporary(async (folder) => {
    const data = path.join(folder, "body");
    const log = path.join(folder, "log");
    writeFileSync(data, body);
    const shape = [
      "-c",
      String(http2Shape.connections),
      "-m",
      String(http2Shape.streams),
      "-D",
      String(seconds),
      "-t",
      String(threadsOf(cores)),
    ];
    const flags = [...shape, "-d", data, `--log-file=${log}`, ...headerFlags(headers)];
    const output = await run(cores, "h2load", [...flags, `http://127.0.0.1:${port}${to}`]);
    return { ...parseH2load(output), seconds, ...parseLatencies(readFileSync(log, "utf8")) };
  });
}

async function run(cores: Cores, tool: string, args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)("taskset", [...pinned(loadCore, cores), tool, ...args]);
  return stdout;
}

/** No more than the connections of an HTTP/2 load, which a thread has at least one of. */
function threadsOf(cores: Cores): number {
  return cores === "one" ? 1 : Math.min(availableParallelism(), http2Shape.connections);
}

function headerFlags(headers: Headers): string[] {
  return Object.entries(headers).flatMap(([name, value]) => ["-H", `${name}: ${value}`]);
}

async function withTemporary<T>(body: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(path.join(tmpdir(), "gatehouse-load-"));
  try {
    return await body(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
