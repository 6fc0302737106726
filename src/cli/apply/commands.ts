// `gatehouse export`, `apply` and `diff`: resources as files.
import type { Command } from "commander";
import { errorMessage } from "../../base/system-error.ts";
import { completing } from "../client/completing.ts";
import { openSession, type Session, withClient } from "../client/session.ts";
import { clientCommands } from "../command-names.ts";
import { CommandFailure } from "../failure.ts";
import { groups } from "../resources/groups.ts";
import { groupOption, namesOf } from "../resources/names.ts";
import type { Finish, Shell } from "../shell.ts";
import type { ApplyOptions } from "./apply.ts";

/** The exit code of a comparison that failed: 1 says that there are differences, as for diff(1). */
const comparisonFailed = 2;

/** Adds the commands. */
export function addApplyCommands(program: Command, shell: Shell, finish: Finish): void {
  addExport(program, shell);
  const applying = withFiles(program.command("apply"))
    .description(clientCommands.apply)
    .option("--dry-run", "change nothing, and show what an apply would change; fails where an apply would")
    .option("-y, --yes", "do not ask");
  withClient(applying, ["table", "json", "yaml", "none"]).action(async (options: ApplyOptions) => {
    using session = await openSession(shell, applying);
    await (await import("./apply.ts")).applyFiles(session, options);
  });
  const comparing = withFiles(program.command("diff")).description(clientCommands.diff);
  withClient(comparing, ["table", "json", "yaml", "none"]).action(async (options: ApplyOptions) => {
    finish(await compared(() => openSession(shell, comparing), options));
  });
}

function addExport(program: Command, shell: Shell): void {
  const exporting = program
    .command("export")
    .description(clientCommands.export)
    .addArgument(completing(program.createArgument("<name|uid>", "the organization or group"), namesOf(groups)))
    .argument("[directory]", "where to write one file per kind; by default all to standard output");
  withClient(exporting, []).action(async (name: string, directory: string | undefined) => {
    using session = await openSession(shell, exporting);
    await (await import("./export.ts")).exportResources(session, name, directory);
  });
}

function withFiles(command: Command): Command {
  return command
    .requiredOption(
      "-f, --file <path...>",
      "a YAML file, or a directory with such files in it and below; - for standard input",
    )
    .addOption(
      groupOption("--group", "the group that paths in the files begin at; by default the organization in the files"),
    )
    .option("--prune", "delete resources that the files do not have, of the kinds and in the groups of the files")
    .option("--prune-kinds <kind...>", "the kinds to delete instead, such as Role or RoleBinding")
    .option("--set-client-secrets", "replace client secrets of existing identity providers, too");
}

async function compared(open: () => Promise<Session>, options: ApplyOptions): Promise<number> {
  try {
    using session = await open();
    return (await (await import("./apply.ts")).compareFiles(session, options)) ? 1 : 0;
  } catch (error) {
    const failure = error instanceof CommandFailure ? error : new CommandFailure(errorMessage(error));
    throw failure.with({ exitCode: comparisonFailed });
  }
}
