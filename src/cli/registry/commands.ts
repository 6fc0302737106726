// `gatehouse registry …`.
import type { Command } from "commander";
import { serviceNamePattern } from "../../config/registry-config.ts";
import { openSession, type Session, withClient } from "../client/session.ts";
import { clientCommands } from "../command-names.ts";
import { printable } from "../escape.ts";
import { CommandFailure, wrongUsage } from "../failure.ts";
import { groupOption } from "../resources/names.ts";
import type { Finish, Shell } from "../shell.ts";

interface SyncFlags {
  readonly from: string;
  readonly group: string;
  readonly repository: readonly string[];
  readonly user?: string;
  readonly prune?: boolean;
}

/** Adds the commands. */
export function addRegistryCommands(program: Command, shell: Shell, finish: Finish): void {
  const registry = program.command("registry").description(clientCommands.registry);
  withClient(registry.command("sync").description("crawl a registry into repos, tags and images"), [
    "table",
    "json",
    "yaml",
    "csv",
    "none",
  ])
    .requiredOption("--from <url>", "the registry")
    .addOption(groupOption("--group", "the group that names in the registry are paths below").makeOptionMandatory())
    .option("--repository <name>", "only this repository; may be repeated", collect, [])
    .option("--user <name>", "user of the registry, whose password is in GATEHOUSE_REGISTRY_PASSWORD")
    .option("--prune", "remove tags that the registry does not have any more")
    .action(async (_options, command: Command) => finish(await runSync(shell, command)));
}

async function runSync(shell: Shell, command: Command): Promise<number> {
  const { from, group, repository: repositories, user, prune = false } = command.opts<SyncFlags>();
  const password = shell.environment.GATEHOUSE_REGISTRY_PASSWORD;
  if (user !== undefined && !password) throw wrongUsage("--user needs a password in GATEHOUSE_REGISTRY_PASSWORD");
  const { isRepositoryName } = await import("../../storage/registry/repository-name.ts");
  const wrong = repositories.find((name) => !isRepositoryName(name));
  if (wrong !== undefined) throw wrongUsage(`--repository ${JSON.stringify(wrong)} is not the name of a repository`);
  const { openSource } = await import("./source.ts");
  const { sync } = await import("./sync.ts");
  const { findUid } = await import("../resources/lookup.ts");
  const { groups } = await import("../resources/groups.ts");
  using session = await openSession(shell, command);
  const source = openSource(from, {
    credentials: user !== undefined && password ? { user, password } : undefined,
    sessionUrl: session.url,
    sessionToken: (service) => findToken(session, service),
  });
  const groupUid = await findUid(session, groups, group);
  return await sync(session, source, { groupUid, repositories: [...new Set(repositories)], prune });
}

/** Returns the token for a registry's service name. An unusable name is the registry's fault, not the user's. */
async function findToken(session: Session, service: string): Promise<string> {
  if (service === "") throw new CommandFailure("the registry does not say what it calls itself (service)");
  if (!serviceNamePattern.test(service))
    throw new CommandFailure(`the registry calls itself ${printable(JSON.stringify(service))}, which is not a name`);
  // A token for the API must not be stored with tokens for registries.
  if (service === session.audience)
    throw new CommandFailure(`the registry calls itself ${service}, as the API of ${session.url} is called`);
  return (await session.credentialFor(service)).token;
}

function collect(value: string, earlier: readonly string[]): string[] {
  return [...earlier, value];
}
