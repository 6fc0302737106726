// `gatehouse iam trust describe` and `accept`: the ids that names of workloads are pinned to, and the names that were refused.
import type { JsonObject } from "@bufbuild/protobuf";
import { Argument, type Command, Option } from "commander";
import { completing } from "../client/completing.ts";
import { confirm } from "../client/prompt.ts";
import { openSession, type Session, withClient } from "../client/session.ts";
import { CommandFailure } from "../failure.ts";
import { rowFormats } from "../output/formats.ts";
import type { View } from "../output/view.ts";
import { identities } from "../resources/identities.ts";
import { textAt } from "../resources/json.ts";
import { findUid } from "../resources/lookup.ts";
import { namesOf } from "../resources/names.ts";
import { note, type Shell } from "../shell.ts";

const states: Readonly<Record<string, string>> = {
  PIN_SOURCE_FIRST_USE: "pinned at its first use",
  PIN_SOURCE_EXPLICIT: "pinned",
  PIN_SOURCE_ACCEPTED: "pinned, accepted",
  NAME_REUSED: "refused: another id than the pinned one",
  ID_MISSING: "refused: no id in the token",
  NAME_UNKNOWN: "refused: not pinned",
};

const view: View = {
  noun: "names",
  id: "id",
  columns: [
    { title: "kind", value: "kind" },
    { title: "name", value: "name" },
    { title: "id", value: "id" },
    { title: "state", value: (row) => states[textAt(row, "source") || textAt(row, "reason")] ?? "" },
    { title: "since", value: (row) => (textAt(row, "createTime") || textAt(row, "lastTime")).slice(0, 10) },
  ],
};

/** Adds the commands to those of `gatehouse iam trust`. */
export function addPinCommands(trust: Command, shell: Shell): void {
  const argument = () => completing(new Argument("<identity>", "its name, or its uid"), namesOf(identities));
  const describe = trust
    .command("describe")
    .description("show the ids that names of a workload are pinned to, and the names that were refused")
    .addArgument(argument());
  withClient(describe, rowFormats).action(async (identity: string) => {
    using session = await openSession(shell, describe);
    const { trust: found } = await readTrust(session, identity);
    await session.output.list(view, [...listOf(found, "pinnedNames"), ...listOf(found, "refusedNames")]);
  });
  const accept = trust
    .command("accept")
    .description(
      "pin refused names to the ids that came with them, after a repository was created again or its name was taken over on purpose",
    )
    .addArgument(argument())
    .addOption(new Option("--id <id...>", "accept only names that were refused with these ids"))
    .addOption(new Option("--yes", "do not ask"));
  withClient(accept, rowFormats).action(async (identity: string) => {
    using session = await openSession(shell, accept);
    const { id: ids, yes = false } = accept.opts<{ readonly id?: readonly string[]; readonly yes?: boolean }>();
    await acceptNames(session, identity, { ids, isSure: yes });
  });
}

async function readTrust(session: Session, name: string): Promise<{ uid: string; trust: JsonObject }> {
  const { WorkloadTrustService } = await import("../../../gen/gatehouse/iam/v1/workload_trust_pb.ts");
  const uid = await findUid(session, identities, name);
  return { uid, trust: await session.call(WorkloadTrustService.method.getTrust, { identity: uid }) };
}

async function acceptNames(
  session: Session,
  identity: string,
  { ids, isSure }: { readonly ids: readonly string[] | undefined; readonly isSure: boolean },
): Promise<void> {
  const { WorkloadTrustService } = await import("../../../gen/gatehouse/iam/v1/workload_trust_pb.ts");
  const { uid, trust } = await readTrust(session, identity);
  const refused = listOf(trust, "refusedNames").filter((row) => ids?.includes(textAt(row, "id")) ?? true);
  if (refused.length === 0) throw new CommandFailure(`no ${ids ? "such name" : "name"} of ${identity} was refused`);
  const names = refused.map((row) => `${textAt(row, "kind")} ${textAt(row, "name").toLowerCase()}`);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined)
    throw new CommandFailure(
      `${twice} was refused with several ids: choose by --id, from gatehouse iam trust describe`,
    );
  if (!isSure) {
    for (const row of refused)
      note(session.shell, `${textAt(row, "kind")} ${textAt(row, "name")}: ${textAt(row, "id") || "no id"}`);
    await confirm(
      session.shell,
      `Pin ${refused.length === 1 ? "this name to this id" : "these names to these ids"}?`,
      false,
    );
  }
  const accepted = refused.map((row) => ({
    kind: textAt(row, "kind"),
    name: textAt(row, "name"),
    id: textAt(row, "id"),
  }));
  const after = await session.call(WorkloadTrustService.method.acceptNames, { identity: uid, refusedNames: accepted });
  await session.output.list(view, listOf(after, "pinnedNames"));
}

function listOf(trust: JsonObject, member: string): JsonObject[] {
  return (trust[member] ?? []) as JsonObject[];
}
