// The environment of a command: variables, streams, terminal.
import { printableLines } from "./escape.ts";

/** Sets the exit code of a command that neither simply succeeds nor throws. */
export type Finish = (exitCode: number) => void;

/** The environment of a command. */
export interface Shell {
  readonly environment: NodeJS.ProcessEnv;
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
  /** Whether the user can be asked: standard input and error are terminals. */
  readonly interactive: boolean;
}

/** Returns the environment of this process. */
export function processShell(environment: NodeJS.ProcessEnv): Shell {
  const { stdout, stderr } = process;
  return {
    environment,
    stdout,
    stderr,
    // Node makes the stream when it is named, which takes longer than most of the help.
    get stdin() {
      return process.stdin;
    },
    get interactive() {
      return process.stdin.isTTY === true && stderr.isTTY === true;
    },
  };
}

/**
 * Ends the program quietly if the reader of standard output is gone, as with `| head`, and with a failure if the result
 * cannot be written. Unread messages do not matter. A server continues in any case.
 */
export function endWithReader({ stdout, stderr }: Shell, isServer: boolean): void {
  stderr.on("error", () => {});
  stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (isServer) return;
    if (error.code === "EPIPE") process.exit(0);
    stderr.write(`gatehouse: the result cannot be written: ${error.message}\n`, () => process.exit(1));
  });
}

/** Prints a line on standard error: standard output is for results. */
export function note({ stderr }: Shell, text: string): void {
  stderr.write(`${printableLines(text)}\n`);
}
