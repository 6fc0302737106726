// Servers as child processes, each pinned to the core that no load generator uses.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createConnection, createServer } from "node:net";
import { availableParallelism } from "node:os";
import { setTimeout as pause } from "node:timers/promises";

/** The core of the servers, and that of the load generators; the same one where there is no other. */
export const serverCore = 0;
export const loadCore = availableParallelism() > 1 ? 1 : 0;

const startTimeoutMs = 30_000;
const stopTimeoutMs = 15_000;

/** A server that runs. Disposing of it ends it. */
export interface ServerProcess extends AsyncDisposable {
  readonly pid: number;
  readonly port: number;
}

/** The cores that a server or a load generator may use: one that the other does not use, or all. */
export type Cores = "one" | "all";

/** The environment of a server, its cores (one when absent), and whether its standard error is shown; it is when absent. */
export interface Surroundings {
  readonly environment?: NodeJS.ProcessEnv;
  readonly cores?: Cores;
  readonly stderr?: "inherit" | "ignore";
}

/** Returns the arguments of taskset that keep a program on a core, or let it use all. */
export function pinned(core: number, cores: Cores): string[] {
  return ["-c", cores === "one" ? String(core) : `0-${availableParallelism() - 1}`];
}

/** Starts a program on the server's core and waits until its port answers. */
export async function startServerProcess(
  command: string,
  args: readonly string[],
  port: number,
  { environment = process.env, cores = "one", stderr = "inherit" }: Surroundings = {},
): Promise<ServerProcess> {
  // taskset becomes the program: the pid is the program's.
  const child = spawn("taskset", [...pinned(serverCore, cores), command, ...args], {
    stdio: ["ignore", "ignore", stderr],
    env: environment,
  });
  const server = { pid: child.pid ?? 0, port, [Symbol.asyncDispose]: () => stop(child) };
  try {
    await waitForPort(child, port, [command, ...args].join(" "));
    return server;
  } catch (error) {
    await stop(child);
    throw error;
  }
}

/** Returns a port of the loopback address that nobody listens on. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("no free port was found");
  return address.port;
}

async function waitForPort(child: ChildProcess, port: number, what: string): Promise<void> {
  const deadline = performance.now() + startTimeoutMs;
  while (!(await answers(port))) {
    if (hasEnded(child)) throw new Error(`${what} ended before it listened`);
    if (performance.now() > deadline) throw new Error(`${what} did not listen within ${startTimeoutMs} ms`);
    await pause(2);
  }
}

async function answers(port: number): Promise<boolean> {
  const socket = createConnection({ host: "127.0.0.1", port });
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || hasEnded(child)) return;
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), stopTimeoutMs);
  await ended;
  clearTimeout(timer);
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}
