// `get`, a verb of other command lines: explains which verb to use here.
import type { Command } from "commander";
import { wrongUsage } from "./failure.ts";
import { findCommand } from "./help.ts";
import type { Resource } from "./resources/resource.ts";
import { resources } from "./resources/resources.ts";

/** Adds the hidden command to the program and to each of these kinds of resource. */
export function addGetCommands(program: Command, needed: readonly Resource[]): void {
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
