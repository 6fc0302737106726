// The chapters of the commands whose nouns are resources.
import type { Command } from "commander";
import { addAdvisoryCommands } from "./advisories/commands.ts";
import { clientCommands, type Extent } from "./command-names.ts";
import { addGetCommands } from "./get-command.ts";
import { findCommand } from "./help.ts";
import { addOrganizationCommands } from "./organizations/commands.ts";
import { addIamCommands, addResourceCommands } from "./resources/commands.ts";
import { resources } from "./resources/resources.ts";
import type { Finish, Shell } from "./shell.ts";

/** Adds the chapters that a command line needs. */
export function addResourceChapters(program: Command, shell: Shell, finish: Finish, extent: Extent): void {
  const isNeeded = (word: string) => extent === "all" || extent === word;
  for (const word of ["iam", "images", "events"] as const)
    if (isNeeded(word)) program.command(word).description(clientCommands[word]);
  const needed = resources.filter(({ path }) => isNeeded(path.split(" ")[0]!));
  addResourceCommands(program, shell, needed);
  if (isNeeded("iam")) {
    addIamCommands(findCommand(program, ["iam"]), shell);
    addOrganizationCommands(findCommand(program, ["iam", "organizations"]), shell, finish);
  }
  if (isNeeded("advisories")) addAdvisoryCommands(findCommand(program, ["advisories"]), shell, finish);
  addGetCommands(program, needed);
}
