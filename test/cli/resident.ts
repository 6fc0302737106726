// The program in one process for many command lines: to start a process for each takes longer than most of what they do.
import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { environmentOf, type Finished } from "./process.ts";

export interface CommandLine {
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** The current folder; that of the tests when absent. */
  readonly folder?: string | undefined;
  /** Standard input; empty when absent. */
  readonly input?: string | undefined;
}

/** A finished command, with its two outputs in the order in which they were written. */
export interface Printed extends Finished {
  readonly both: string;
}

/** Far more than any command takes on a busy machine, and less than a test may take. */
const commandTimeoutMs = 90_000;

const program = fileURLToPath(new URL("resident-process.ts", import.meta.url));
let resident: ChildProcess | undefined;
let last: Promise<unknown> = Promise.resolve();

/** Runs a client command as `run` does, after those that were asked for before; its standard input is empty. */
export async function runInTurn(args: readonly string[], environment: Record<string, string> = {}): Promise<Finished> {
  const { code, stdout, stderr } = await runLineInTurn({ args, environment: environmentOf(environment) });
  return { code, stdout, stderr };
}

/** Runs a command line with exactly its environment, after those that were asked for before. */
export function runLineInTurn(line: CommandLine): Promise<Printed> {
  const finished = last.then(() => ask(line));
  last = finished.catch(() => {});
  return finished;
}

async function ask(line: CommandLine): Promise<Printed> {
  resident ??= fork(program, { execArgv: [], stdio: ["ignore", "inherit", "inherit", "ipc"] });
  const child = resident;
  // Between two commands it does not keep the tests from ending, and ends with them.
  child.ref();
  child.channel!.ref();
  const { promise, resolve, reject } = Promise.withResolvers<Printed>();
  const onExit = (code: number | null, signal: string | null) => {
    resident = undefined;
    reject(new Error(`gatehouse ${line.args.join(" ")} ended its process: ${code ?? signal}`));
  };
  child.once("message", resolve).once("exit", onExit);
  const timeout = setTimeout(() => child.kill("SIGKILL"), commandTimeoutMs);
  child.send(line);
  try {
    return await promise;
  } finally {
    clearTimeout(timeout);
    child.off("message", resolve).off("exit", onExit);
    child.unref();
    child.channel?.unref();
  }
}
