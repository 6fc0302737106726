import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";

/** Receives the output of a tool as it comes. */
export type Print = (text: string) => void;

/** The options of running a program. */
export interface ProgramOptions {
  /** Receives its output; the terminal without. */
  readonly print?: Print | undefined;
  readonly env?: NodeJS.ProcessEnv;
  readonly timeoutMs: number;
}

/** About three times what the longest step takes on a slow machine. */
const toolTimeoutMs = 12 * 60_000;

/** Those that run. They end with this process. */
const running = new Set<ChildProcess>();
process.once("exit", () => running.forEach(endGroup));

/** Runs a program of `node_modules/.bin` as `runProgram` does. */
export function runTool(name: string, args: readonly string[], print?: Print, env?: NodeJS.ProcessEnv): Promise<void> {
  const command = [path.resolve("node_modules/.bin", name), ...args];
  return runProgram(command, { print, env: env ?? process.env, timeoutMs: toolTimeoutMs });
}

/**
 * Runs a program with its arguments. Throws unless it exits with 0 in time. When it has ended, what it started ends too: a process that
 * is left would hold the output open, and its reader would wait for it.
 */
export async function runProgram(
  [file = "", ...args]: readonly string[],
  { print, env = process.env, timeoutMs }: ProgramOptions,
): Promise<void> {
  const stdio = print ? "pipe" : "inherit";
  const child = spawn(file, args, {
    stdio: ["ignore", stdio, stdio],
    env,
    // In a process group of its own, which Windows does not have.
    detached: process.platform !== "win32",
  });
  running.add(child);
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding("utf8").on("data", (text) => print?.(text));
  const closed = once(child, "close");
  let isLate = false;
  // A test that blocks the event loop stops neither at the runner's limit nor at a signal that the process handles.
  const timeout = setTimeout(() => {
    isLate = true;
    endGroup(child);
  }, timeoutMs);
  child.once("exit", () => endGroup(child));
  const [status, signal] = await closed;
  clearTimeout(timeout);
  running.delete(child);
  const name = path.basename(file);
  if (isLate) throw new Error(`${name} did not end within ${timeoutMs / 60_000} minutes`);
  if (status !== 0) throw new Error(`${name} ended with ${status ?? signal}`);
}

function endGroup(child: ChildProcess): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
  } catch {
    // No process of the group is left, or there are no groups.
    child.kill("SIGKILL");
  }
}
