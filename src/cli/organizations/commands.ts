// `gatehouse iam organizations export` and `import`.
import type { Command } from "commander";
import { completing } from "../client/completing.ts";
import { openSession, withClient } from "../client/session.ts";
import { organizations } from "../resources/groups.ts";
import { namesOf } from "../resources/names.ts";
import type { Finish, Shell } from "../shell.ts";

/** Adds the commands to those of organizations. */
export function addOrganizationCommands(parent: Command, shell: Shell, finish: Finish): void {
  parent.description(`${parent.description()}, export, import`);
  const exporting = parent
    .command("export")
    .description("write an organization and what belongs to it to a file, for another installation")
    .addArgument(completing(parent.createArgument("<name|uid>", "the organization"), namesOf(organizations)))
    .argument("[file]", "the file to write; by default standard output");
  withClient(exporting, []).action(async (name: string, file: string | undefined) => {
    using session = await openSession(shell, exporting);
    const [{ findUid }, { exportOrganization }] = await Promise.all([
      import("../resources/lookup.ts"),
      import("./export.ts"),
    ]);
    const uid = await findUid(session, organizations, name, { inRoot: true });
    await exportOrganization(session, uid, file);
  });
  const importing = parent
    .command("import")
    .description("create or update an exported organization with its uids, as an operator of the installation")
    .argument("<file>", "an exported organization")
    .option("--dry-run", "write nothing, and show what an import would create, update and reject");
  withClient(importing, ["table", "json", "yaml", "none"]).action(
    async (file: string, { dryRun = false }: { dryRun?: boolean }) => {
      using session = await openSession(shell, importing);
      const { importOrganization } = await import("./import.ts");
      finish(await importOrganization(session, file, dryRun));
    },
  );
}
