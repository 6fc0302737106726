// `gatehouse iam organizations export` and `import`.
import type { Command } from "commander";
import { completing } from "../client/completing.ts";
import { openSession, withClient } from "../client/session.ts";
import { organizations } from "../resources/groups.ts";
import { namesOf } from "../resources/names.ts";
import type { Finish, Shell } from "../shell.ts";
import type { ImportOptions } from "./import.ts";

interface ExportOptions {
  readonly recipient?: string;
  readonly withSboms?: boolean;
}

/** Adds the commands to those of organizations. */
export function addOrganizationCommands(parent: Command, shell: Shell, finish: Finish): void {
  parent.description(`${parent.description()}, export, import`);
  const exporting = parent
    .command("export")
    .description("write an organization and what belongs to it to a file, for another installation")
    .addArgument(completing(parent.createArgument("<name|uid>", "the organization"), namesOf(organizations)))
    .argument("[file]", "the file to write; by default standard output")
    .option("--recipient <file>", "a public key, for which client secrets are encrypted; without it they are left out")
    .option("--with-sboms", "also write the uploaded SBOMs of tagged images");
  withClient(exporting, []).action(
    async (name: string, file: string | undefined, { recipient, withSboms = false }: ExportOptions) => {
      using session = await openSession(shell, exporting);
      const [{ findUid }, { exportOrganization }] = await Promise.all([
        import("../resources/lookup.ts"),
        import("./export.ts"),
      ]);
      const uid = await findUid(session, organizations, name, { inRoot: true });
      await exportOrganization(session, uid, { file, recipient, withSboms });
    },
  );
  const importing = parent
    .command("import")
    .description("create or update an exported organization with its uids, as an operator of the installation")
    .argument("<file>", "an exported organization")
    .option("--dry-run", "write nothing, and show what an import would create, update and reject")
    .option("--existing", "also if the organization exists here already: the file then wins, and can give access to it")
    .option("--accept-verified", "the organization becomes verified if it is in the file")
    .option("--recipient-key <file>", "the private key that decrypts the client secrets in the file");
  withClient(importing, ["table", "json", "yaml", "none"]).action(async (file: string, options: ImportOptions) => {
    using session = await openSession(shell, importing);
    const { importOrganization } = await import("./import.ts");
    finish(await importOrganization(session, file, options));
  });
}
