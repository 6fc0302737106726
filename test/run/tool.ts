import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";

/** Receives the output of a tool as it comes. */
export type Print = (text: string) => void;

/** About three times what the longest step takes on a slow machine. */
const toolTimeoutMs = 15 * 60_000;

/** Runs a program of `node_modules/.bin`. Its output goes to `print`, or to the terminal. Throws unless it exits with 0. */
export async function runTool(
  name: string,
  args: readonly string[],
  print?: Print,
  env: NodeJS.ProcessEnv = process.env,
): Promise<void> {
  const stdio = print ? "pipe" : "inherit";
  const child = spawn(path.resolve("node_modules/.bin", name), args, {
    stdio: ["ignore", stdio, stdio],
    env,
    // A test that blocks the event loop stops neither at the runner's limit nor at a signal that the process handles.
    timeout: toolTimeoutMs,
    killSignal: "SIGKILL",
  });
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding("utf8").on("data", (text) => print?.(text));
  const [status, signal] = await once(child, "close");
  if (status !== 0) throw new Error(`${name} ended with ${status ?? signal}`);
}
