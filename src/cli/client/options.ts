// The flags shared by client commands. They may precede the command: `gatehouse -o json iam groups list`.
import { type Command, Option } from "commander";
import { unknownValue, wrongUsage } from "../failure.ts";
import { pathOf } from "../help.ts";
import { type Format, formats } from "../output/formats.ts";

/** Headings in the help, after the flags of the command itself. */
export const serverGroup = "Server and token:";
export const outputGroup = "Output:";

export function urlOption(): Option {
  return new Option("--url <url>", "address of the server (GATEHOUSE_URL, platform.api)");
}

export function audienceOption(): Option {
  const description = "audience of tokens, when it is not the address (GATEHOUSE_AUDIENCE, platform.audience)";
  return new Option("--audience <audience>", description);
}

export function contextOption(): Option {
  return new Option(
    "--context <name>",
    "the context whose settings are used (GATEHOUSE_CONTEXT, `config use-context`)",
  );
}

/** Returns the flags for output. */
export function outputOptions(outputs: readonly Format[] = formats): Option[] {
  return [
    new Option("-o, --output <format>", "how results are printed (output.format)").choices(outputs),
    new Option("--no-headers", "tables and CSV without titles"),
    new Option("--query <expression>", "print what this JMESPath expression selects of the JSON"),
  ];
}

/** Lets a command group accept the shared flags before the subcommand. */
export function takeGlobalOptions(command: Command, isRoot: boolean): void {
  command.enablePositionalOptions();
  for (const option of [contextOption(), urlOption(), audienceOption(), ...outputOptions()])
    if (isFree(command, option)) command.addOption(isRoot ? option : option.hideHelp());
}

function isFree(command: Command, { long }: Option): boolean {
  return !command.options.some((other) => other.long === long);
}

/** Returns the flags of a command, including those that precede it. Wrong usage for a flag that it does not have. */
export function clientOptionsOf<T extends object>(command: Command): T {
  const found: Record<string, unknown> = { ...command.opts() };
  for (let above = command.parent; above; above = above.parent) {
    for (const option of above.options) {
      const name = option.attributeName();
      if (above.getOptionValueSource(name) !== "cli") continue;
      checkTaken(command, option, above.getOptionValue(name));
      if (command.getOptionValueSource(name) !== "cli" && !isGiven(command, above, name))
        found[name] = above.getOptionValue(name);
    }
  }
  return found as T;
}

/** Reports whether a nested command sets the flag as well. */
function isGiven(command: Command, above: Command, name: string): boolean {
  for (let near = command.parent; near && near !== above; near = near.parent)
    if (near.getOptionValueSource(name) === "cli") return true;
  return false;
}

/** Fails unless the command also has the flag and accepts the value. */
function checkTaken(command: Command, { flags, long }: Option, value: unknown): void {
  const own = command.options.find((option) => option.long === long);
  const words = pathOf(command);
  if (own?.flags !== flags) throw wrongUsage(`\`gatehouse ${words}\` does not take ${flags}`);
  if (own.argChoices && !own.argChoices.includes(String(value)))
    throw unknownValue(
      `\`gatehouse ${words}\` has no format ${JSON.stringify(value)}`,
      String(value),
      own.argChoices,
      `Formats are ${own.argChoices.join(", ")}.`,
    );
}
