// The process: reads the environment once, runs a command, and turns what went wrong into a sentence and an exit code.

import { printableLines } from "./cli/escape.ts";
import { endWithLauncher } from "./cli/launcher.ts";
import { runCommand } from "./cli/program.ts";
import { ConfigError } from "./config/settings.ts";

/** Runs the program. Exit codes: 0 done, 1 failed, 2 wrong usage or configuration. */
export async function main(args: readonly string[]): Promise<void> {
  endWithLauncher(process.env);
  try {
    process.exitCode = await runCommand(args, process.env);
  } catch (error) {
    process.exitCode = error instanceof ConfigError ? 2 : 1;
    console.error(error instanceof Error ? printableLines(`gatehouse: ${error.message}`) : error);
  }
}
