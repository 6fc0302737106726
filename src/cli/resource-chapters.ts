// The chapters of the commands whose nouns are resources.
import type { Command } from "commander";
import { addAdvisoryCommands } from "./advisories/commands.ts";
import { clientCommands, type Extent } from "./command-names.ts";
import { wrongUsage } from "./failure.ts";
import { findCommand } from "./help.ts";
import { addImageCommands } from "./images/commands.ts";
import { addOrganizationCommands } from "./organizations/commands.ts";
import { addIamCommands, addResourceCommands } from "./resources/commands.ts";
import type { Resource } from "./resources/resource.ts";
import { resources } from "./resources/resources.ts";
import type { Finish, Shell } from "./shell.ts";
import { addTrustCommands } from "./trust/commands.ts";

/** Adds the chapters that a command line needs. */
export function addResourceChapters(program: Command, shell: Shell, finish: Finish, extent: Extent): void {
  const isNeeded = (word: string) => extent === "all" || extent === word;
  for (const word of ["iam", "images", "events"] as const)
    if (isNeeded(word)) program.command(word).description(clientCommands[word]);
  const needed = resources.filter(({ path }) => isNeeded(path.split(" ")[0]!));
  addResourceCommands(program, shell, needed);
  if (isNeeded("iam")) {
    addIamCommands(findCommand(program, ["iam"]), shell);
    addTrustCommands(findCommand(program, ["iam"]), shell);
    addOrganizationCommands(findCommand(program, ["iam", "organizations"]), shell, finish);
  }
  if (isNeeded("images")) addImageCommands(findCommand(program, ["images"]), shell, finish);
  if (isNeeded("advisories")) addAdvisoryCommands(findCommand(program, ["advisories"]), shell, finish);
  addGetCommands(program, needed);
}

/** Adds the hidden command to the program and to each of these kinds of resource. */
function addGetCommands(program: Command, needed: readonly Resource[]): void {
  addGet(program, ([word = ""]) => resources.filter((resource) => isCalled(resource, word)));
  for (const resource of needed) addGet(findCommand(program, resource.path.split(" ")), () => [resource]);
}

function addGet(command: Command, meant: (words: readonly string[]) => readonly Resource[]): void {
  command
    .command("get", { hidden: true })
    .argument("[words...]")
    .allowUnknownOption()
    .action((words: string[]) => {
      const lines = meant(words).flatMap(({ path, noun, view }) => [
        `gatehouse ${path} list              lists ${view.noun}`,
        `gatehouse ${path} describe NAME     shows one ${noun}`,
      ]);
      throw wrongUsage(
        "there is no command get",
        lines.join("\n") || "The verbs are list and describe: gatehouse iam groups list",
      );
    });
}

function isCalled({ path, noun, view }: Resource, word: string): boolean {
  const plain = word.toLowerCase().replace(/[-_]/g, " ");
  return [path.split(" ").at(-1)?.replaceAll("-", " "), noun, view.noun].includes(plain);
}
