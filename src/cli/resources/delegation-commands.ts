// `gatehouse iam delegations`: who vouches for invites, subscriptions, roles of identity providers and static keys.
import type { JsonObject } from "@bufbuild/protobuf";
import { type Command, Option } from "commander";
import { completing } from "../client/completing.ts";
import { openSession, type Session, withClient, withList } from "../client/session.ts";
import { wrongUsage } from "../failure.ts";
import { rowFormats } from "../output/formats.ts";
import type { View } from "../output/view.ts";
import type { Shell } from "../shell.ts";
import { groups } from "./groups.ts";
import { identities } from "./identities.ts";
import { textAt } from "./json.ts";
import { findUid } from "./lookup.ts";
import { groupOption, namesOf } from "./names.ts";

const pageSize = 200;
/** The number of capabilities in a cell. */
const shownCapabilities = 3;

/** The view of delegations. */
export const delegationView: View = {
  noun: "delegations",
  columns: [
    { title: "kind", value: ({ kind }) => wordOf(kind, "DELEGATION_KIND_") },
    { title: "name", value: "name" },
    { title: "uid", value: "uid" },
    { title: "in force", value: ({ inactivity }) => (inactivity === undefined ? "yes" : "no") },
    { title: "why not", value: whyNot },
    { title: "lacks", value: "capabilities", wide: true },
    { title: "maker", value: ({ makerUid, madeByInstallation }) => makerOf(makerUid, madeByInstallation) },
    { title: "role uid", value: "roleUid", wide: true },
    { title: "since", value: "vouchTime", wide: true },
  ],
};

interface ListOptions {
  readonly parent?: string;
  readonly inactive?: boolean;
  readonly maker?: string;
}

/** Adds the commands to those of `gatehouse iam`. */
export function addDelegationCommands(iam: Command, shell: Shell): void {
  const parent = iam.command("delegations").description("delegations, and who vouches for each: list, confirm");
  const list = parent
    .command("list")
    .description("list invites, subscriptions, roles of identity providers and static keys, and who vouches for each")
    .addOption(groupOption("--parent", "only those of this group and its subgroups"))
    .addOption(
      completing(new Option("--maker <name|uid>", "only those that this identity vouches for"), namesOf(identities)),
    )
    .option("--inactive", "only those that are not active");
  withList(list, rowFormats).action(async () => {
    using session = await openSession(shell, list);
    const rows = await listDelegations(session, list.opts<ListOptions>());
    await session.output.list(delegationView, session.output.arrange(delegationView, rows, "as it is"));
  });
  const confirm = parent
    .command("confirm")
    .description("vouch for a delegation that someone else created: you must have all access that it gives")
    .argument("[uid...]")
    .addOption(groupOption("--parent", "with --all, only those of this group and its subgroups"))
    .option("--all", "all that are not active");
  withClient(confirm, rowFormats).action(async (uids: string[]) => {
    const { all = false, parent: place } = confirm.opts<{ all?: boolean; parent?: string }>();
    if (all === uids.length > 0) throw wrongUsage("name the delegations by uid, or give --all");
    using session = await openSession(shell, confirm);
    const asked = { inactive: true, ...(place !== undefined && { parent: place }) };
    const wanted = all ? (await listDelegations(session, asked)).map((row) => textAt(row, "uid")) : uids;
    await session.output.list(delegationView, await confirmAll(session, [...new Set(wanted)]));
  });
}

async function listDelegations(session: Session, { parent, inactive, maker }: ListOptions): Promise<JsonObject[]> {
  const { DelegationsService } = await service();
  const place = parent === undefined ? {} : { parent: await findUid(session, groups, parent) };
  const request = {
    ...place,
    ...(inactive && { inactive }),
    ...(maker !== undefined && { maker: await findUid(session, identities, maker) }),
    pageSize,
  };
  const rows: JsonObject[] = [];
  let pageToken = "";
  do {
    const paging = pageToken === "" ? {} : { pageToken };
    const reply = await session.call(DelegationsService.method.listDelegations, { ...request, ...paging });
    rows.push(...((reply.delegations as JsonObject[] | undefined) ?? []));
    pageToken = textAt(reply, "nextPageToken");
  } while (pageToken !== "");
  return rows;
}

async function confirmAll(session: Session, uids: readonly string[]): Promise<JsonObject[]> {
  const { DelegationsService } = await service();
  const confirmed: JsonObject[] = [];
  for (const uid of uids) {
    const reply = await session.call(DelegationsService.method.confirmDelegation, { uid });
    confirmed.push(...((reply.delegations as JsonObject[] | undefined) ?? []));
  }
  return confirmed;
}

async function service() {
  return await import("../../../gen/gatehouse/iam/v1/delegations_pb.ts");
}

/** Returns the reason, with the first capabilities that the maker lacks; wide formats have all. */
function whyNot({ inactivity, capabilities }: JsonObject): string {
  if (inactivity === undefined) return "";
  const names = Array.isArray(capabilities) ? capabilities : [];
  const shown = names.slice(0, shownCapabilities).join(", ");
  const more = names.length > shownCapabilities ? ` and ${names.length - shownCapabilities} more` : "";
  return `${wordOf(inactivity, "INACTIVITY_REASON_")}${shown && `: ${shown}`}${more}`;
}

function makerOf(uid: unknown, isInstallation: unknown): string {
  return isInstallation === true ? "the installation" : String(uid ?? "");
}

function wordOf(name: unknown, prefix: string): string {
  return String(name ?? "")
    .replace(prefix, "")
    .toLowerCase()
    .replaceAll("_", " ");
}
