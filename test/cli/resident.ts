// The program in one process for many command lines: to start a process for each takes longer than most of what they do.
import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { environmentOf, type Finished } from "./process.ts";

export interface CommandLine {
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

const program = fileURLToPath(new URL("resident-process.ts", import.meta.url));
let resident: ChildProcess | undefined;
let last: Promise<unknown> = Promise.resolve();

/** Runs a client command as `run` does, after those that were asked for before; its standard input is empty. */
export function runInTurn(args: readonly string[], environment: Record<string, string> = {}): Promise<Finished> {
  const finished = last.then(() => ask({ args, environment: environmentOf(environment) }));
  last = finished.catch(() => {});
  return finished;
}

async function ask(line: CommandLine): Promise<Finished> {
  resident ??= fork(program, { execArgv: [], stdio: ["ignore", "inherit", "inherit", "ipc"] });
  const child = resident;
  // Between two commands it does not keep the tests from ending, and ends with them.
  child.ref();
  child.channel!.ref();
  const { promise, resolve, reject } = Promise.withResolvers<Finished>();
  const onExit = (code: number | null, signal: string | null) => {
    resident = undefined;
    reject(new Error(`gatehouse ${line.args.join(" ")} ended its process: ${code ?? signal}`));
  };
  child.once("message", resolve).once("exit", onExit);
  child.send(line);
  try {
    return await promise;
  } finally {
    child.off("message", resolve).off("exit", onExit);
    child.unref();
    child.channel?.unref();
  }
}
