// Questions to a person. Only on a terminal: anywhere else the answer must be on the command line.
import { createInterface } from "node:readline/promises";
import { printable } from "../escape.ts";
import { CommandFailure, wrongUsage } from "../failure.ts";
import type { Shell } from "../shell.ts";

/** Goes on when the person says yes, or said so with --yes; fails otherwise. */
export async function confirm(shell: Shell, question: string, yes: boolean | undefined): Promise<void> {
  if (yes) return;
  if (!shell.interactive)
    throw wrongUsage(`${question} Nobody can be asked here.`, "Say --yes to go on without a question.");
  const answer = await ask(shell, `${printable(question)} [y/N] `);
  if (!/^y(es)?$/i.test(answer)) throw new CommandFailure("nothing was done");
}

/** Asks for one line; an empty one when the person ends the input (Ctrl-D). Ctrl-C ends the program, as it does elsewhere. */
export async function ask({ stdin, stderr }: Shell, question: string): Promise<string> {
  const lines = createInterface({ input: stdin, output: stderr });
  lines.once("SIGINT", () => {
    // The terminal is as it was before anything else is written to it.
    lines.close();
    stderr.write("\n");
    process.kill(process.pid, "SIGINT");
  });
  try {
    return (await lines.question(question)).trim();
  } catch (error) {
    if (!(error instanceof Error) || error.name !== "AbortError") throw error;
    stderr.write("\n");
    return "";
  } finally {
    lines.close();
  }
}
