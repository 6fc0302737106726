// The commands that call a server. Each chapter is loaded for its words only.
import type { Command } from "commander";
import { completing } from "./client/completing.ts";
import { clientOptionsOf, takeGlobalOptions } from "./client/options.ts";
import type { ClientWord, Extent } from "./command-names.ts";
import { everyCommand } from "./help.ts";
import type { Finish, Shell } from "./shell.ts";

type Add = (program: Command, shell: Shell, finish: Finish, extent: Extent) => void;

interface Chapter {
  readonly words: readonly ClientWord[];
  load(): Promise<Add>;
}

/** The chapters, in the order of the help. */
const chapters: readonly Chapter[] = [
  { words: ["auth", "whoami", "sts"], load: async () => (await import("./auth/commands.ts")).addAuthCommands },
  {
    words: ["iam", "images", "events", "advisories"],
    load: async () => (await import("./resource-chapters.ts")).addResourceChapters,
  },
  { words: ["export", "apply", "diff"], load: async () => (await import("./apply/commands.ts")).addApplyCommands },
  { words: ["search"], load: async () => (await import("./search-command.ts")).addSearchCommand },
  { words: ["changes"], load: async () => (await import("./resources/change-commands.ts")).addChangeCommands },
  {
    words: ["statistics"],
    load: async () => (await import("./resources/statistics-commands.ts")).addStatisticsCommands,
  },
  { words: ["registry"], load: async () => (await import("./registry/commands.ts")).addRegistryCommands },
  { words: ["config"], load: async () => (await import("./config-command.ts")).addConfigCommands },
  { words: ["api"], load: async () => (await import("./api-command.ts")).addApiCommand },
  { words: ["version"], load: async () => (await import("./version-command.ts")).addVersionCommand },
];

/** Adds the chapters that a command line needs. */
export async function addClientCommands(program: Command, shell: Shell, finish: Finish, extent: Extent): Promise<void> {
  for (const { words, load } of chapters) {
    const isNeeded = extent === "all" || words.some((word) => word === extent);
    if (isNeeded) (await load())(program, shell, finish, extent);
  }
}

/** Allows the shared client flags before the name of a command. Call it after all commands are added. */
export function addGlobalOptions(program: Command): void {
  everyCommand(program, (command) => {
    if (command.commands.length > 0) takeGlobalOptions(command, command === program);
    for (const option of command.options)
      if (option.long === "--context")
        completing(option, async (...given) => (await import("./context-commands.ts")).contextNames(...given));
  });
  // A command may not have all of them.
  program.hook("preAction", (_program, command) => void clientOptionsOf(command));
}
