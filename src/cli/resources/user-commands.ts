// `gatehouse iam users`: the people who hold roles in an organization.
import type { JsonObject } from "@bufbuild/protobuf";
import type { Command, Option } from "commander";
import { isUid, rootOf } from "../../model/uid.ts";
import { openSession, type Session, withClient, withList } from "../client/session.ts";
import { rowFormats } from "../output/formats.ts";
import type { View } from "../output/view.ts";
import type { Shell } from "../shell.ts";
import { textAt } from "./json.ts";
import { groupOption } from "./names.ts";
import { findGroupOrOnly } from "./parent-group.ts";
import type { RemoveOptions } from "./remove-user.ts";
import { findUser, listUsers, userText } from "./users.ts";

const roleView: View = {
  noun: "roles",
  id: "roleBindingUid",
  columns: [
    { title: "role", value: (row) => textAt(row, "roleName") || textAt(row, "roleUid") },
    { title: "group", value: placeOf },
    { title: "role binding", value: "roleBindingUid" },
  ],
};

const view: View = {
  noun: "users",
  columns: [
    { title: "name", value: "name" },
    { title: "address", value: "email", member: "email" },
    { title: "uid", value: "uid" },
    { title: "state", value: stateOf, member: "suspended" },
    { title: "roles", value: rolesOf, inDetails: false },
    { title: "joined", value: "joinTime", wide: true },
  ],
};

interface PlaceOptions {
  readonly parent?: string;
}

/** Adds the commands to those of `gatehouse iam`. */
export function addUserCommands(iam: Command, shell: Shell): void {
  const users = iam
    .command("users")
    .description("the people who hold roles in an organization: list, describe, remove");
  const list = users
    .command("list")
    .description("list the users with a role at a group or below it, with their roles there")
    .addOption(placeOption("the group (default.group, or your only organization)"))
    .option("--name <text>", "only users with this in their name or address");
  withList(list, rowFormats).action(async () => {
    using session = await openSession(shell, list);
    const { parent, name = "" } = list.opts<PlaceOptions & { name?: string }>();
    const rows = await listUsers(session, await placeFor(session, parent), name);
    await session.output.list(view, session.output.arrange(view, rows, "as it is"));
  });
  const describe = users
    .command("describe")
    .description("show one user and the roles that they hold at a group and below it")
    .argument("<user>", "the address, the name or the uid")
    .addOption(placeOption("the group (default.group, or your only organization)"));
  withClient(describe, rowFormats).action(async (text: string) => {
    using session = await openSession(shell, describe);
    const group = await placeFor(session, describe.opts<PlaceOptions>().parent);
    const { bindings = [], bindingCount, ...user } = await findUser(session, group, text);
    const rows = bindings as JsonObject[];
    await session.output.details(view, user, [
      { key: "roles", title: "Roles", view: roleView, rows, total: Number(bindingCount ?? 0) },
    ]);
  });
  addRemove(users, shell);
}

function addRemove(users: Command, shell: Shell): void {
  const remove = users
    .command("remove")
    .description("remove a user from an organization: deletes the membership and all role bindings there")
    .argument("<user>", "the address, the name or the uid")
    .addOption(placeOption("the organization (that of default.group, or your only one)"))
    .option("--dry-run", "only show what would be lost")
    .option("--end-sessions", "also end the sessions by identity providers of the organization")
    .option("-y, --yes", "do not ask");
  withClient(remove, rowFormats).action(async (text: string) => {
    using session = await openSession(shell, remove);
    const { parent, ...options } = remove.opts<PlaceOptions & RemoveOptions>();
    const organization = rootOf(await placeFor(session, parent));
    // A caller may delete role bindings without listing them.
    const user = isUid(text) ? { uid: text } : await findUser(session, organization, text);
    const target = { organization, identity: textAt(user, "uid"), shown: userText(user) };
    await (await import("./remove-user.ts")).removeUser(session, target, options);
  });
}

function placeOption(description: string): Option {
  return groupOption("--parent", description);
}

async function placeFor(session: Session, parent: string | undefined): Promise<string> {
  return await findGroupOrOnly(session, parent, "users belong to an organization");
}

function placeOf(row: JsonObject): string {
  return textAt(row, "groupName") || textAt(row, "groupUid");
}

/** Returns the roles with their places; the server shows the first of many. */
function rolesOf({ bindings = [], bindingCount = 0 }: JsonObject): string {
  const shown = (bindings as JsonObject[]).map((row) => `${textAt(row, "roleName") || "a role"} at ${placeOf(row)}`);
  const more = Number(bindingCount) - shown.length;
  return shown.join(", ") + (more > 0 ? ` and ${more} more` : "");
}

function stateOf({ joinTime, suspended }: JsonObject): string {
  if (suspended === true) return "deactivated";
  return joinTime === undefined ? "pending" : "joined";
}
