// The help of commands: `help` with a whole path, own flags first, and examples.
import { type Command, Help } from "commander";
import { unknownValue } from "./failure.ts";

/** Lists a command's own flags before shared ones, and commands of the program by name alone. Call it before commands are added. */
export function configureHelp(program: Command): void {
  program.configureHelp({
    subcommandTerm(command) {
      return command.parent === program ? command.name() : Help.prototype.subcommandTerm.call(this, command);
    },
    groupItems(unsorted, visible, groupOf) {
      const grouped = Help.prototype.groupItems.call(this, unsorted, visible, groupOf as (item: object) => string);
      const own = grouped.get("Options:");
      grouped.delete("Options:");
      return new Map([...(own ? [["Options:", own] as const] : []), ...grouped]) as never;
    },
  });
}

/** Adds `help` to a command group. It takes the whole path of a command: `help iam groups create`. */
export function addHelpCommand(command: Command): void {
  command.helpCommand(false);
  command
    .command("help", { hidden: command.parent !== null })
    .description("show the help of a command")
    .helpGroup("Shell:")
    .argument("[command...]")
    .action((words: string[]) => findCommand(command, words).help());
}

/** Returns the command with a path. Wrong usage if there is none. */
export function findCommand(command: Command, words: readonly string[]): Command {
  const [word, ...rest] = words;
  if (word === undefined) return command;
  const inner = command.commands.find((candidate) => candidate.name() === word || candidate.aliases().includes(word));
  if (inner) return findCommand(inner, rest);
  const known = command
    .createHelp()
    .visibleCommands(command)
    .map((candidate) => candidate.name());
  const place = `gatehouse ${pathOf(command)}`.trim();
  throw unknownValue(
    `${place} has no command ${JSON.stringify(word)}`,
    word,
    known,
    known.length > 0 ? `Commands are ${known.join(", ")}.` : "",
  );
}

/** Adds examples to the end of a command's help. */
export function addExamples(command: Command, examples: readonly string[]): void {
  if (examples.length === 0) return;
  const title = examples.length === 1 ? "Example:" : "Examples:";
  command.addHelpText("after", `\n${[title, ...examples.map((line) => `  $ ${line}`)].join("\n")}\n`);
}

/** Returns the words of a command, without the program's name. */
export function pathOf(command: Command): string {
  return command.parent ? `${pathOf(command.parent)} ${command.name()}`.trim() : "";
}

/** Calls a function for a command and all of its subcommands. */
export function everyCommand(command: Command, apply: (command: Command) => void): void {
  apply(command);
  for (const inner of command.commands) everyCommand(inner, apply);
}
