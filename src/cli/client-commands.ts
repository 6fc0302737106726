// The commands that call a server.
import type { Command } from "commander";
import { addAdvisoryCommands } from "./advisories/commands.ts";
import { addAuthCommands } from "./auth/commands.ts";
import { addConfigCommands } from "./config-command.ts";
import { addRegistryCommands } from "./registry/commands.ts";
import { addChangeCommands } from "./resources/change-commands.ts";
import { addResourceCommands } from "./resources/commands.ts";
import type { Finish, Shell } from "./shell.ts";

/** Adds all of them. */
export function addClientCommands(program: Command, shell: Shell, finish: Finish): void {
  addAuthCommands(program, shell);
  addResourceCommands(program, shell);
  addAdvisoryCommands(program.commands.find((command) => command.name() === "advisories")!, shell, finish);
  addChangeCommands(program, shell);
  addRegistryCommands(program, shell, finish);
  addConfigCommands(program, shell);
}
