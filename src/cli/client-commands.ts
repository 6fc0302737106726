// The commands that call a server.
import type { Command } from "commander";
import { addAdvisoryCommands } from "./advisories/commands.ts";
import { addApiCommand } from "./api-command.ts";
import { addApplyCommands } from "./apply/commands.ts";
import { addAuthCommands } from "./auth/commands.ts";
import { completing } from "./client/completing.ts";
import { clientOptionsOf, takeGlobalOptions } from "./client/options.ts";
import { addConfigCommands } from "./config-command.ts";
import { contextNames } from "./context-commands.ts";
import { addGetCommands } from "./get-command.ts";
import { everyCommand } from "./help.ts";
import { addOrganizationCommands } from "./organizations/commands.ts";
import { addRegistryCommands } from "./registry/commands.ts";
import { addChangeCommands } from "./resources/change-commands.ts";
import { addResourceCommands } from "./resources/commands.ts";
import type { Finish, Shell } from "./shell.ts";
import { addVersionCommand } from "./version-command.ts";

/** Adds all of them. */
export function addClientCommands(program: Command, shell: Shell, finish: Finish): void {
  addAuthCommands(program, shell);
  addResourceCommands(program, shell);
  addAdvisoryCommands(program.commands.find((command) => command.name() === "advisories")!, shell, finish);
  const iam = program.commands.find((command) => command.name() === "iam")!;
  const organizations = iam.commands.find((command) => command.name() === "organizations")!;
  addOrganizationCommands(organizations, shell, finish);
  addApplyCommands(program, shell, finish);
  addChangeCommands(program, shell);
  addRegistryCommands(program, shell, finish);
  addConfigCommands(program, shell);
  addApiCommand(program, shell);
  addVersionCommand(program, shell);
  addGetCommands(program);
}

/** Allows the shared client flags before the name of a command. Call it after all commands are added. */
export function addGlobalOptions(program: Command): void {
  everyCommand(program, (command) => {
    if (command.commands.length > 0) takeGlobalOptions(command, command === program);
    for (const option of command.options) if (option.long === "--context") completing(option, contextNames);
  });
  // A command may not have all of them.
  program.hook("preAction", (_program, command) => void clientOptionsOf(command));
}
