// What surrounds a run of the program: the environment that main has read, and the terminal, if there is one.
import { printableLines } from "./escape.ts";

/** Takes the exit code of a command that does not simply succeed or throw. */
export type Finish = (exitCode: number) => void;

/** The surroundings of a command. */
export interface Shell {
  readonly environment: NodeJS.ProcessEnv;
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
  /** Whether a person can be asked: both sides of the conversation are a terminal. */
  readonly interactive: boolean;
}

/** The surroundings of this process. */
export function processShell(environment: NodeJS.ProcessEnv): Shell {
  const { stdin, stdout, stderr } = process;
  return { environment, stdin, stdout, stderr, interactive: stdin.isTTY === true && stderr.isTTY === true };
}

/**
 * Ends the program quietly when the reader of standard output is gone, as with `| head`, and as a failure when a result cannot be
 * written. Messages that nobody reads stop nothing. A server goes on in any case.
 */
export function endWithReader({ stdout, stderr }: Shell, isServer: boolean): void {
  stderr.on("error", () => {});
  stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (isServer) return;
    if (error.code === "EPIPE") process.exit(0);
    stderr.write(`gatehouse: the result cannot be written: ${error.message}\n`, () => process.exit(1));
  });
}

/** A line for people, on standard error: standard output is for results. */
export function note({ stderr }: Shell, text: string): void {
  stderr.write(`${printableLines(text)}\n`);
}
