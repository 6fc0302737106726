// The command line: what each command is called and takes. What it does is loaded when it is run.
import { Command, CommanderError } from "commander";
import { version } from "../version.ts";
import { addCompletionCommands } from "./completion.ts";
import { CommandFailure, failureText } from "./failure.ts";
import { addServerCommands, serverCommands } from "./server-commands.ts";
import { endWithReader, type Finish, processShell, type Shell } from "./shell.ts";
import { withSafeHint } from "./suggestions.ts";

/**
 * Runs one command line and answers its exit code: 0 done, 1 failed, 2 wrong usage. A setting of the server that cannot
 * be used is thrown.
 */
export async function runCommand(args: readonly string[], environment: NodeJS.ProcessEnv): Promise<number> {
  const shell = processShell(environment);
  let exitCode = 0;
  const program = await newProgram(args[0], shell, (code) => {
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

/** A server does not wait for the commands of its clients to load: those are left out of a command line for a server. */
async function newProgram(first: string | undefined, shell: Shell, finish: Finish): Promise<Command> {
  const program = new Command("gatehouse")
    .description(
      "Identity, registry and vulnerability platform API: the server, and a client of any server of this API.",
    )
    .version(version)
    // Inherited by the commands that are added.
    .configureOutput({ outputError: (text, write) => write(withSafeHint(text)) });
  program.commandsGroup("Client:");
  if (!serverCommands.some((name) => name === first))
    (await import("./client-commands.ts")).addClientCommands(program, shell, finish);
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
