// Completion in bash, zsh and fish: the shell asks the program what may come next, so its answers are never out of date.
import type { Command as TabCommand } from "@bomb.sh/tab";
import type { Argument, Command, Option } from "commander";

const shells = ["bash", "zsh", "fish"] as const;

/** Adds `completion`, which prints what a shell has to load, and the hidden command that the shell then asks. */
export function addCompletionCommands(program: Command): void {
  const completion = program
    .command("completion")
    .description(`print the completion script of a shell: ${shells.join(", ")}`)
    .addHelpText("after", "\nIn bash, with the package bash-completion: source <(gatehouse completion bash)");
  completion.addArgument(completion.createArgument("<shell>").choices(shells)).action(async (name: string) => {
    const { script } = await import("@bomb.sh/tab");
    script(name as "bash" | "zsh" | "fish", program.name(), program.name());
  });
  program
    .command("complete", { hidden: true })
    .argument("[words...]")
    .allowUnknownOption()
    .action(async (words: string[]) => {
      const { default: tab } = await import("@bomb.sh/tab");
      describe(program, "", tab);
      tab.parse(words);
    });
}

type Tab = typeof import("@bomb.sh/tab")["default"];

/** Tells the completion of a command and of everything below it. */
function describe(command: Command, path: string, tab: Tab): void {
  const told = path === "" ? tab : tab.command(path, command.description());
  const help = command.createHelp();
  for (const option of help.visibleOptions(command)) tellOption(told, option);
  for (const argument of command.registeredArguments) tellArgument(told, argument);
  for (const inner of help.visibleCommands(command)) {
    if (inner.name() !== "help") describe(inner, path === "" ? inner.name() : `${path} ${inner.name()}`, tab);
  }
}

function tellOption(told: TabCommand, { long, short, description, argChoices, required }: Option): void {
  if (!long) return;
  const alias = short?.slice(1);
  const choices = (complete: (value: string, description: string) => void) => {
    for (const choice of argChoices ?? []) complete(choice, "");
  };
  if (required) told.option(long.slice(2), description, choices, alias);
  else told.option(long.slice(2), description, alias);
}

function tellArgument(told: TabCommand, argument: Argument): void {
  told.argument(
    argument.name(),
    (complete) => {
      for (const choice of argument.argChoices ?? []) complete(choice, "");
    },
    argument.variadic,
  );
}
