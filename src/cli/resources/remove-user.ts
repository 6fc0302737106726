// `gatehouse iam users remove`: shows what is lost, asks, and removes a person from an organization.
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { isJsonObject } from "../../base/json.ts";
import { confirm } from "../client/prompt.ts";
import type { Session } from "../client/session.ts";
import { printable } from "../escape.ts";
import type { View } from "../output/view.ts";
import { delegationView } from "./delegation-commands.ts";
import { textAt } from "./json.ts";

/** The flags of the command. */
export interface RemoveOptions {
  readonly dryRun?: boolean;
  readonly endSessions?: boolean;
  readonly yes?: boolean;
}

const removalView: View = {
  noun: "removals",
  id: "etag",
  columns: [
    { title: "role bindings", value: "roleBindingCount" },
    { title: "groups without an owner", value: "ownerlessGroupUids" },
    { title: "provisioned by scim", value: ({ provisioned }) => yesNo(provisioned), member: "provisioned" },
    { title: "group mappings", value: ({ mapped }) => yesNo(mapped), member: "mapped" },
    { title: "sessions", value: "sessionCount" },
  ],
};

const lostRoles: View = {
  noun: "roles",
  columns: [
    { title: "role", value: ({ role }) => nameOf(role) },
    { title: "group", value: ({ group }) => nameOf(group) },
    { title: "role binding", value: "uid" },
  ],
};

/** Removes a person from an organization, after a confirmation of what is lost. `shown` is how the person is called. */
export async function removeUser(
  session: Session,
  {
    organization,
    identity,
    shown,
  }: { readonly organization: string; readonly identity: string; readonly shown: string },
  { dryRun = false, endSessions = false, yes = false }: RemoveOptions,
): Promise<void> {
  const { MembershipsService } = await import("../../../gen/gatehouse/iam/v1/memberships_pb.ts");
  const call = (rest: JsonObject) =>
    session.call(MembershipsService.method.removeMember, { organization, identity, endSessions, ...rest });
  const { shell, output } = session;
  if (dryRun) return await showLoss(session, await call({ validateOnly: true }));
  let etag = "";
  if (!yes) {
    const preview = await call({ validateOnly: true });
    etag = textAt(preview, "etag");
    for (const line of lossLines(preview, endSessions)) shell.stderr.write(`${printable(line)}\n`);
    await confirm(shell, `Remove user ${shown} from the organization?`, false);
  }
  const lost = await call({ etag });
  if (output.format === "id") shell.stdout.write(`${identity}\n`);
  else if (output.format === "name") shell.stdout.write(`${printable(shown)}\n`);
  else if (output.format === "json" || output.format === "yaml") await output.data(lost);
  else if (output.format !== "none")
    shell.stderr.write(`${printable(`Removed user ${shown}: ${countText(lost, "roleBindingCount", "role binding")}.`)}
`);
}

async function showLoss(session: Session, lost: JsonObject): Promise<void> {
  const { roleBindings = [], delegations = [], roleBindingCount = 0 } = lost;
  const [roles, made] = [roleBindings as JsonObject[], delegations as JsonObject[]];
  await session.output.details(removalView, lost, [
    { key: "roleBindings", title: "Roles", view: lostRoles, rows: roles, total: Number(roleBindingCount) },
    { key: "delegations", title: "Delegations that lose their maker's authority", view: delegationView, rows: made },
  ]);
}

function lossLines(lost: JsonObject, endSessions: boolean): string[] {
  const { roleBindings = [], delegations = [], ownerlessGroupUids = [], provisioned, mapped, sessionCount } = lost;
  const rows = (value: JsonValue) => value as JsonObject[];
  const sessions = countText(lost, "sessionCount", "session");
  return [
    `- ${countText(lost, "roleBindingCount", "role binding")}`,
    ...rows(roleBindings).map(({ role, group }) => `  ${nameOf(role)} at ${nameOf(group)}`),
    ...rows(delegations).map((row) => `- not in force any more: ${textAt(row, "uid")}`),
    ...(ownerlessGroupUids as string[]).map((uid) => `- without an owner of its own: ${uid}`),
    ...(provisioned ? ["- A SCIM client provisions the user and can give access again."] : []),
    ...(mapped ? ["- Group mappings of an identity provider can give the user roles again."] : []),
    ...(sessionCount
      ? [`- ${sessions} by your identity providers ${endSessions ? "end" : "go on, without roles here"}`]
      : []),
  ];
}

function countText(row: JsonObject, member: string, noun: string): string {
  const count = Number(row[member] ?? 0);
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

function nameOf(value: JsonValue | undefined): string {
  return isJsonObject(value) ? textAt(value as JsonObject, "name") || textAt(value as JsonObject, "uid") : "";
}

function yesNo(value: JsonValue | undefined): string {
  return value === true ? "yes" : "no";
}
