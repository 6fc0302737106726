// The command line: what each command is called and takes. What it does is loaded when it is run.
import { Command, CommanderError } from "commander";
import { version } from "../version.ts";
import { addAdvisoryCommands } from "./advisories/commands.ts";
import { addAuthCommands } from "./auth/commands.ts";
import { addCompletionCommands } from "./completion.ts";
import { addConfigCommands } from "./config-command.ts";
import { CommandFailure, failureText } from "./failure.ts";
import { addRegistryCommands } from "./registry/commands.ts";
import { addResourceCommands } from "./resources/commands.ts";
import { addServerCommands } from "./server-commands.ts";
import { endWithReader, processShell, type Shell } from "./shell.ts";

/** Takes the exit code of a command that does not simply succeed or throw. */
export type Finish = (exitCode: number) => void;

/**
 * Runs one command line and answers its exit code: 0 done, 1 failed, 2 wrong usage. A setting of the server that cannot
 * be used is thrown.
 */
export async function runCommand(args: readonly string[], environment: NodeJS.ProcessEnv): Promise<number> {
  const shell = processShell(environment);
  let exitCode = 0;
  const program = newProgram(shell, (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync([...args], { from: "user" });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    if (!(error instanceof CommandFailure)) throw error;
    shell.stderr.write(`${failureText(error)}\n`);
    return error.exitCode;
  }
}

function newProgram(shell: Shell, finish: Finish): Command {
  const program = new Command("gatehouse")
    .description(
      "Identity, registry and vulnerability platform API: the server, and a client of any server of this API.",
    )
    .version(version);
  program.commandsGroup("Client:");
  addAuthCommands(program, shell);
  addResourceCommands(program, shell);
  addAdvisoryCommands(program.commands.find((command) => command.name() === "advisories")!, shell, finish);
  addRegistryCommands(program, shell, finish);
  addConfigCommands(program, shell);
  program.commandsGroup("Server:");
  addServerCommands(program, shell.environment, finish);
  program.commandsGroup("Shell:");
  addCompletionCommands(program);
  everyCommand(program, (command) => command.exitOverride());
  program.hook("preAction", (_program, command) => {
    // A server goes on, whoever reads what it says.
    if (command.name() !== "serve") endWithReader(shell);
  });
  return program;
}

function everyCommand(command: Command, apply: (command: Command) => void): void {
  apply(command);
  for (const inner of command.commands) everyCommand(inner, apply);
}
