// Prompts, on terminals only: elsewhere the answer must be on the command line.
import { createInterface } from "node:readline/promises";
import { printable } from "../escape.ts";
import { CommandFailure, wrongUsage } from "../failure.ts";
import type { Shell } from "../shell.ts";

/** Continues if the user confirms or passed --yes; fails otherwise. */
export async function confirm(shell: Shell, question: string, yes: boolean | undefined): Promise<void> {
  if (yes) return;
  requireTerminal(shell, question);
  const answer = await ask(shell, `${printable(question)} [y/N] `);
  if (!/^y(es)?$/i.test(answer)) throw new CommandFailure("nothing was done");
}

/** Continues if the user types a name; fails otherwise. `effect` says what is about to happen. */
export async function confirmName(shell: Shell, question: string, effect: string, name: string): Promise<void> {
  requireTerminal(shell, question);
  const answer = await ask(shell, printable(`${effect} Type ${name} to go on: `));
  if (answer !== name) throw new CommandFailure("nothing was done");
}

function requireTerminal({ interactive }: Shell, question: string): void {
  if (!interactive) throw wrongUsage(`${question} Nobody can be asked here.`, "Say --yes to go on without a question.");
}

/** Reads one line; empty if the user ends the input (Ctrl-D). Ctrl-C ends the program. */
export async function ask({ stdin, stderr }: Shell, question: string): Promise<string> {
  const lines = createInterface({ input: stdin, output: stderr });
  lines.once("SIGINT", () => {
    // Restores the terminal before anything else is written to it.
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
