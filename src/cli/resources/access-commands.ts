// `gatehouse iam access`: who may do what, and where.
import type { JsonObject } from "@bufbuild/protobuf";
import { Argument, type Command, Option } from "commander";
import { isJsonObject } from "../../base/json.ts";
import { completing } from "../client/completing.ts";
import { openSession, withList } from "../client/session.ts";
import { rowFormats } from "../output/formats.ts";
import type { View } from "../output/view.ts";
import type { Shell } from "../shell.ts";
import { limitOption, listOf, listPages, nameOrUid } from "./access-lists.ts";
import { timeAhead, withEnds } from "./binding-terms.ts";
import { findCapabilities } from "./capabilities.ts";
import { groups } from "./groups.ts";
import { identities } from "./identities.ts";
import { textAt } from "./json.ts";
import { findUid } from "./lookup.ts";
import { capabilityNames, namesOf } from "./names.ts";
import { findPlace } from "./place.ts";
import { addSimulateCommands } from "./simulate-commands.ts";
import { addUnused } from "./unused-command.ts";

const holderView: View = {
  noun: "identities",
  id: "identity.uid",
  columns: [
    { title: "identity", value: ({ identity }) => nameOrUid(identity, "name", "uid") },
    { title: "uid", value: "identity.uid", wide: true },
    { title: "roles", value: ({ bindings }) => listOf(bindings).map(roleAtPlace).join(", ") },
    { title: "capabilities", value: ({ capabilities }) => String(listOf(capabilities).length) },
    { title: "names", value: "capabilities", wide: true },
    { title: "confined", value: ({ confined }) => (confined === true ? "yes" : ""), wide: true },
    { title: "suspended", value: ({ suspended }) => (suspended === true ? "yes" : ""), wide: true },
  ],
};

/** Returns the view in which identities of one name have their uids, too, so readers can tell them apart. */
function holderViewOf(rows: readonly JsonObject[]): View {
  const names = rows.map(({ identity }) => nameOrUid(identity, "name", "uid"));
  const value = ({ identity }: JsonObject) => {
    const name = nameOrUid(identity, "name", "uid");
    const isAlone = names.indexOf(name) === names.lastIndexOf(name) || !isJsonObject(identity);
    return isAlone ? name : `${name} (${textAt(identity, "uid")})`;
  };
  const view = { ...holderView, columns: [{ title: "identity", value }, ...holderView.columns.slice(1)] };
  return withEnds(view, rows, ({ bindings }) => listOf(bindings));
}

const heldView: View = {
  noun: "roles",
  id: "binding.roleBindingUid",
  columns: [
    { title: "role", value: ({ binding }) => nameOrUid(binding, "roleName", "roleUid") },
    { title: "bound at", value: ({ binding }) => nameOrUid(binding, "groupName", "groupUid") },
    { title: "takes effect at", value: effectOf },
    { title: "capabilities", value: ({ capabilities }) => String(listOf(capabilities).length) },
    { title: "names", value: "capabilities", wide: true },
    { title: "binding", value: "binding.roleBindingUid", wide: true },
  ],
};

function heldViewOf(rows: readonly JsonObject[]): View {
  return withEnds(heldView, rows, ({ binding }) => (isJsonObject(binding) ? [binding as JsonObject] : []));
}

interface WhoOptions {
  readonly at?: string;
  readonly capability?: string;
  readonly identity?: string;
  readonly withEnd?: boolean;
  readonly showConfined?: boolean;
  readonly limit: number;
}

/** Adds the commands to those of `gatehouse iam`. */
export function addAccessCommands(iam: Command, shell: Shell): void {
  const access = iam.command("access").description("who may do what, and where: who-can, what-can, unused, simulate");
  addWhoCan(access, shell);
  addWhatCan(access, shell);
  addUnused(access, shell);
  addSimulateCommands(access, shell);
}

function addWhoCan(access: Command, shell: Shell): void {
  const whoCan = access
    .command("who-can")
    .description("list the identities with access to a group or repo, by bindings there and on its ancestors")
    .addArgument(
      completing(new Argument("<group>", "the group or repo, or the uid of a resource in a group"), namesOf(groups)),
    )
    .addOption(capabilityOption("only identities with this capability, such as groups.list"))
    .addOption(completing(new Option("--identity <name|uid>", "only this identity"), namesOf(identities)))
    .option("--with-end", "only identities with a role that ends by itself")
    .option("--show-confined", "also identities of other subgroups, whose bindings give them nothing here")
    .addOption(atOption())
    .addOption(limitOption());
  withList(whoCan, rowFormats).action(async (group: string) => {
    using session = await openSession(shell, whoCan);
    const { capability, identity, withEnd, showConfined, limit, at } = whoCan.opts<WhoOptions>();
    const request = {
      group: await findPlace(session, group),
      ...(await capabilityFilter(capability)),
      ...(identity !== undefined && { identity: await findUid(session, identities, identity) }),
      ...(withEnd && { withEnd }),
      ...(showConfined && { showConfined }),
      ...(at !== undefined && { time: timeAhead(at) }),
    };
    const { AccessService } = await service();
    await listPages(session, AccessService.method.whoCan, "identities", request, holderViewOf, limit);
  });
}

function addWhatCan(access: Command, shell: Shell): void {
  const whatCan = access
    .command("what-can")
    .description("list the roles of an identity, or your own, and where each takes effect")
    .addArgument(completing(new Argument("[identity]", "the identity; yourself if left out"), namesOf(identities)))
    .addOption(capabilityOption("only roles with this capability, such as groups.list"))
    .addOption(atOption())
    .addOption(limitOption());
  withList(whatCan, rowFormats).action(async (identity: string | undefined) => {
    using session = await openSession(shell, whatCan);
    const { capability, limit, at } = whatCan.opts<Pick<WhoOptions, "capability" | "limit" | "at">>();
    const request = {
      ...(identity !== undefined && { identity: await findUid(session, identities, identity) }),
      ...(await capabilityFilter(capability)),
      ...(at !== undefined && { time: timeAhead(at) }),
    };
    const { AccessService } = await service();
    await listPages(session, AccessService.method.whatCan, "roles", request, heldViewOf, limit);
  });
}

function capabilityOption(description: string): Option {
  return completing(new Option("--capability <name>", description), capabilityNames);
}

async function capabilityFilter(capability: string | undefined): Promise<JsonObject> {
  if (capability === undefined) return {};
  await findCapabilities([capability]);
  return { capability };
}

function atOption(): Option {
  return new Option("--at <time>", "at a later time: after 8h, 7d, or such as 2026-12-24T18:00Z; now if left out");
}

function roleAtPlace(binding: JsonObject): string {
  return `${nameOrUid(binding, "roleName", "roleUid")} at ${nameOrUid(binding, "groupName", "groupUid")}`;
}

function effectOf({ binding, effectiveGroupUids, confined, suspended, state }: JsonObject): string {
  if (suspended === true) return "nowhere: an identity provider has deactivated the person";
  if (state === "ROLE_BINDING_TERM_STATE_SCHEDULED") return "nowhere yet: it begins later";
  if (state === "ROLE_BINDING_TERM_STATE_ENDED") return "nowhere: it has ended";
  const places = listOf(effectiveGroupUids);
  if (places.length === 0) return "nowhere: the identity is confined";
  const isWhereBound = isJsonObject(binding) && confined !== true && String(places) === binding.groupUid;
  return isWhereBound ? nameOrUid(binding, "groupName", "groupUid") : places.join(",");
}

async function service() {
  return await import("../../../gen/gatehouse/access/v1/access_pb.ts");
}
