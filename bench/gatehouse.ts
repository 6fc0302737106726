// The Gatehouse under test: a process of its own on a generated data directory.
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { get, type IncomingMessage } from "node:http";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { once as memoized } from "../src/base/lazy.ts";
import { openDatabase } from "../src/storage/database.ts";
import { defaultDatabaseLimits } from "../src/storage/engine/dialect.ts";
import type { Data } from "./data.ts";
import { issueOwnerToken } from "./owner-token.ts";
import type { Landmarks } from "./population.ts";
import { anonymousMemoryOf } from "./proc.ts";
import { type Cores, freePort, type ServerProcess, startServerProcess } from "./server-process.ts";
import { median } from "./statistics.ts";

/** A running Gatehouse. */
export interface Gatehouse extends ServerProcess {
  readonly url: string;
  readonly landmarks: Landmarks;
  /** The value of the Authorization header that the owner of everything sends. */
  readonly authorization: string;
  /** From the start of the process to its first answer, in milliseconds. */
  readonly firstAnswerMs: number;
  /** Anonymous memory before any load, in MiB. */
  readonly idleMib: number;
}

const wholeProgram = fileURLToPath(new URL("../dist/gatehouse.js", import.meta.url));
const build = fileURLToPath(new URL("../build/bundle.js", import.meta.url));
const tokenTimeoutMs = 10_000;
const settleMs = 500;

/** As `npm start` has it. */
const flags = ["--max-semi-space-size=8"];

/** Starts Gatehouse several times; the last one goes on, and has the median of their times to the first answer. */
export async function startMeasured(data: Data, starts: number): Promise<Gatehouse> {
  const times: number[] = [];
  while (times.length < starts - 1) {
    await using started = await startGatehouse(data, []);
    times.push(started.firstAnswerMs);
  }
  const last = await startGatehouse(data, []);
  return { ...last, firstAnswerMs: median([...times, last.firstAnswerMs]) };
}

const bundle = memoized(() => execFileSync(process.execPath, [build]));

/**
 * Starts Gatehouse in development mode. `nodeFlags` are for Node itself, such as `--cpu-prof`; `settings` are flags of
 * `serve`.
 */
export async function startGatehouse(
  { directory, landmarks }: Data,
  nodeFlags: readonly string[],
  program = wholeProgram,
  settings: readonly string[] = [],
): Promise<Gatehouse> {
  // As `npm run build` leaves it.
  if (program === wholeProgram) bundle();
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const tokenFile = path.join(directory, "owner-token");
  // A token of an earlier run would name another issuer.
  rmSync(tokenFile, { force: true });
  const own = ["--dev", "--listen", `127.0.0.1:${port}`, "--data-dir", directory, "--log-level", "silent"];
  const startedAt = performance.now();
  const server = await startServerProcess(
    process.execPath,
    [...flags, ...nodeFlags, program, "serve", ...own, ...settings],
    port,
  );
  return await whenReady(server, { url, landmarks, startedAt, token: () => readToken(tokenFile) });
}

/** The options of a server in production. */
export interface ProductionOptions {
  /** Of the setting `workers`. */
  readonly workers: string;
  readonly cores: Cores;
  /** The PostgreSQL database with the data; absent for the SQLite file in the directory. */
  readonly databaseUrl?: string;
}

/** Starts Gatehouse as in production, which development mode cannot show: there it is one process. */
export async function startProduction(
  { directory, landmarks }: Data,
  { workers, cores, databaseUrl }: ProductionOptions,
): Promise<Gatehouse> {
  bundle();
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const database = await openDatabase(databaseUrl ?? path.join(directory, "gatehouse.db"), defaultDatabaseLimits);
  const { token } = await issueOwnerToken(database, directory, landmarks, url);
  await database.close();
  const own = ["--listen", `127.0.0.1:${port}`, "--data-dir", directory, "--log-level", "silent"];
  // A server that had the data before had another port.
  const production = ["--workers", workers, "--base-url", url, "--accept-issuer-change"];
  const where = databaseUrl === undefined ? [] : ["--database-url", databaseUrl];
  const args = [...flags, wholeProgram, "serve", ...own, ...production, ...where];
  const startedAt = performance.now();
  const server = await startServerProcess(process.execPath, args, port, { cores });
  return await whenReady(server, { url, landmarks, startedAt, token: async () => token });
}

interface Starting extends Pick<Gatehouse, "url" | "landmarks"> {
  readonly startedAt: number;
  token(): Promise<string>;
}

/** Waits until a server responds and has settled. Ends it if that fails. */
async function whenReady(server: ServerProcess, { url, landmarks, startedAt, token }: Starting): Promise<Gatehouse> {
  try {
    const status = await firstStatusOf(`${url}/readyz`);
    const firstAnswerMs = performance.now() - startedAt;
    if (status !== 200) throw new Error(`${url}/readyz: answered ${status}`);
    const authorization = `Bearer ${await token()}`;
    await pause(settleMs);
    return { ...server, url, landmarks, authorization, firstAnswerMs, idleMib: anonymousMemoryOf(server.pid) };
  } catch (error) {
    await server[Symbol.asyncDispose]();
    throw error;
  }
}

/** Workers begin to listen one after another: the first connection may be refused. */
export async function firstStatusOf(address: string): Promise<number | undefined> {
  for (let tries = 0; ; tries++) {
    try {
      return await statusOf(address);
    } catch (error) {
      if (tries === 20) throw error;
      await pause(settleMs / 2);
    }
  }
}

/** By node:http: the first `fetch` of a process loads a client for 40 ms, which would count as the server's. */
async function statusOf(url: string): Promise<number | undefined> {
  const [response] = (await once(get(url, { agent: false }), "response")) as [IncomingMessage];
  response.resume();
  return response.statusCode;
}

async function readToken(file: string): Promise<string> {
  const deadline = performance.now() + tokenTimeoutMs;
  while (!existsSync(file)) {
    if (performance.now() > deadline) throw new Error(`${file}: was not written within ${tokenTimeoutMs} ms`);
    await pause(10);
  }
  return readFileSync(file, "utf8").trim();
}
