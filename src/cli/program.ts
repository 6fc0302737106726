// The command line: names and flags of commands. Their code is loaded when they run.
import { Command, CommanderError, InvalidArgumentError } from "commander";
import { didYouMean } from "../base/similar.ts";
import { version } from "../base/version.ts";
import { useProxiesOf } from "./client/proxy-environment.ts";
import { clientCommands, extentOf, isClientWord, isServerWord, serverCommands } from "./command-names.ts";
import { addCompletionCommands } from "./completion/commands.ts";
import { printableLines } from "./escape.ts";
import { CommandFailure, failureText } from "./failure.ts";
import { addExamples, addHelpCommand, configureHelp, everyCommand, pathOf } from "./help.ts";
import { endWithReader, type Finish, processShell, type Shell } from "./shell.ts";
import { withSafeHint } from "./suggestions.ts";

/**
 * Runs a command line and returns its exit code: 0 success, 1 failure, 2 wrong usage. Throws for invalid server
 * settings.
 */
export async function runCommand(args: readonly string[], environment: NodeJS.ProcessEnv): Promise<number> {
  const shell = processShell(environment);
  // Before the arguments are parsed, because parsing may print help and usage errors.
  endWithReader(shell, runsServer(args));
  useProxiesOf(environment);
  let exitCode = 0;
  const program = await newProgram(args, shell, (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync([...args], { from: "user" });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return await usageExit(error, args, shell);
    if (!(error instanceof CommandFailure)) throw error;
    shell.stderr.write(`${failureText(error)}\n`);
    return error.exitCode;
  }
}

async function usageExit(error: CommanderError, args: readonly string[], shell: Shell) {
  if (error.code === "commander.unknownCommand") {
    // The program that parsed the arguments may have only the commands of one word.
    const whole = await newProgram([], shell, () => {});
    const hint = (await import("./misplaced-command.ts")).suggestPlace(whole, args);
    if (hint !== "") shell.stderr.write(`${hint}\n`);
  }
  return error.exitCode === 0 ? 0 : 2;
}

/** Returns the program with the commands that a command line needs; without one, with all. */
export async function newProgram(args: readonly string[], shell: Shell, finish: Finish): Promise<Command> {
  const extent = extentOf(args);
  const program = new Command("gatehouse")
    .description(
      "Identity, registry and vulnerability platform API: the server, and a client of any server of this API.",
    )
    .version(version)
    // Inherited by the commands added later.
    .configureOutput({ outputError: (text, write) => write(printableLines(withSafeHint(text))) });
  configureHelp(program);
  program.commandsGroup("Client:");
  const client = isServerWord(extent) ? undefined : await import("./client-commands.ts");
  if (extent === "names") addNames(program, clientCommands);
  else await client?.addClientCommands(program, shell, finish, extent);
  program.commandsGroup("Server:");
  if (extent === "names") addNames(program, serverCommands);
  else if (!isClientWord(extent)) (await import("./server-commands.ts")).addServerCommands(program, shell, finish);
  program.commandsGroup("Shell:");
  addCompletionCommands(program, shell);
  client?.addGlobalOptions(program);
  program.commandsGroup("");
  await finishCommands(program, args);
  return program;
}

/** Adds commands without actions, for the help of the program. */
function addNames(program: Command, descriptions: Readonly<Record<string, string>>): void {
  for (const [name, description] of Object.entries(descriptions)) program.command(name).description(description);
}

function runsServer([first]: readonly string[]): boolean {
  return first === "serve" || first === "emulator";
}

type Examples = Readonly<Record<string, readonly string[]>>;

/** Adds options and hooks that all commands share. A server does not load the examples. */
async function finishCommands(program: Command, args: readonly string[]): Promise<void> {
  const isServer = runsServer(args) && !args.includes("--help") && !args.includes("-h");
  const examples: Examples = isServer ? {} : (await import("./examples.ts")).examples;
  everyCommand(program, (command) => {
    command.exitOverride();
    readChoices(command);
    addExamples(command, examples[pathOf(command)] ?? []);
    if (command.commands.length > 0) addHelpCommand(command);
  });
}

/** Lets a command read its choices in any case and with - for _, and suggest one for a misspelt value. */
function readChoices({ options, registeredArguments }: Command): void {
  for (const option of options) if (option.argChoices) option.argParser(readerOf(option.argChoices));
  for (const argument of registeredArguments)
    if (argument.argChoices) argument.argParser(readerOf(argument.argChoices));
}

function readerOf(choices: readonly string[]): (value: string) => string {
  return (value) => choiceOf(value, choices);
}

/** Returns the choice in its first spelling. */
function choiceOf(value: string, choices: readonly string[]): string {
  const plain = (text: string) => text.toLowerCase().replaceAll("_", "-");
  const found = choices.find((choice) => plain(choice) === plain(value));
  if (found !== undefined) return found;
  const suggestion = didYouMean(value, choices).replace(/^d/, "\n(D").replace(/\?$/, "?)");
  throw new InvalidArgumentError(`Allowed choices are ${choices.join(", ")}.${suggestion}`);
}
