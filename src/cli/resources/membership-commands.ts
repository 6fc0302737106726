// `gatehouse iam memberships`: the organizations of one's own account.
import type { DescMethodUnary, JsonObject } from "@bufbuild/protobuf";
import type { Command } from "commander";
import { openSession, type Session, withClient, withList } from "../client/session.ts";
import { CommandFailure, suggestingHint } from "../failure.ts";
import { rowFormats } from "../output/formats.ts";
import type { View } from "../output/view.ts";
import { note, type Shell } from "../shell.ts";
import { groups } from "./groups.ts";
import { textAt } from "./json.ts";
import { findUid } from "./lookup.ts";

const pageSize = 200;

const view: View = {
  noun: "organizations",
  id: "organization",
  columns: [
    { title: "organization", value: "name" },
    { title: "uid", value: "organization" },
    { title: "state", value: ({ joinTime }) => (joinTime === undefined ? "pending" : "joined") },
    { title: "roles", value: rolesOf },
    { title: "joined", value: "joinTime", wide: true },
  ],
};

/** Adds the commands to those of `gatehouse iam`. */
export function addMembershipCommands(iam: Command, shell: Shell): void {
  const parent = iam
    .command("memberships")
    .description("the organizations of your own account: list, accept, decline, leave");
  const list = parent
    .command("list")
    .description(
      "list the organizations that you have joined, and those that gave you a role and wait for your decision",
    );
  withList(list, rowFormats).action(async () => {
    using session = await openSession(shell, list);
    const { listMemberships, listPendingOrganizations } = await methods();
    const joined = await all(session, listMemberships, "memberships");
    const pending = await all(session, listPendingOrganizations, "organizations");
    await session.output.list(view, session.output.arrange(view, [...pending, ...joined], "as it is"));
  });
  decision(parent, shell, "accept", "join an organization: it then sees your name and your e-mail address");
  decision(parent, shell, "decline", "delete the roles that an organization gave you which you have not joined");
  decision(parent, shell, "leave", "delete your membership and your roles in an organization");
}

function decision(parent: Command, shell: Shell, verb: "accept" | "decline" | "leave", description: string): void {
  const command = parent.command(verb).description(description).argument("<organization>", "its uid, or its name");
  withClient(command, rowFormats).action(async (name: string) => {
    using session = await openSession(shell, command);
    const { acceptOrganization, declineOrganization, leaveOrganization } = await methods();
    const method = { accept: acceptOrganization, decline: declineOrganization, leave: leaveOrganization }[verb];
    const organization = await uidOf(session, name);
    const { membership } = await session.call(method, { organization });
    if (verb === "accept") await session.output.list(view, [membership as JsonObject]);
    else note(session.shell, `${verb === "leave" ? "Left" : "Declined"} ${name}.`);
  });
}

/** Names of organizations that were not joined mean nothing to the API, unless they are verified. */
async function uidOf(session: Session, name: string): Promise<string> {
  const { listPendingOrganizations } = await methods();
  const pending = await all(session, listPendingOrganizations, "organizations");
  const named = pending.filter((one) => textAt(one, "name") === name);
  if (named.length === 1) return textAt(named[0]!, "organization");
  return await findUid(session, groups, name).catch((error: unknown) => {
    if (!(error instanceof CommandFailure)) throw error;
    const known = pending.map((one) => textAt(one, "name"));
    throw error.with({ hint: suggestingHint(name, known, error.hint) });
  });
}

async function all(session: Session, method: DescMethodUnary, items: string): Promise<JsonObject[]> {
  const found: JsonObject[] = [];
  let pageToken = "";
  do {
    const reply = await session.call(method, { pageSize, pageToken });
    found.push(...((reply[items] as JsonObject[] | undefined) ?? []));
    pageToken = textAt(reply, "nextPageToken");
  } while (pageToken !== "");
  return found;
}

async function methods() {
  return (await import("../../../gen/gatehouse/iam/v1/memberships_pb.ts")).MembershipsService.method;
}

function rolesOf({ roles = [], hasCustomRoles }: JsonObject): string {
  const names = Array.isArray(roles) ? roles.map(String) : [];
  return [...names, ...(hasCustomRoles === true ? ["a custom role"] : [])].join(", ");
}
