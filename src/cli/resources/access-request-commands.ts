// `gatehouse iam access-requests`: roles for a time, which others approve.
import type { JsonObject } from "@bufbuild/protobuf";
import { Argument, type Command, Option } from "commander";
import { completing } from "../client/completing.ts";
import { openSession, type Session, withClient, withList } from "../client/session.ts";
import { CommandFailure, suggestingHint, wrongUsage } from "../failure.ts";
import { rowFormats } from "../output/formats.ts";
import type { View } from "../output/view.ts";
import { note, type Shell } from "../shell.ts";
import { lasting } from "./columns.ts";
import { duration } from "./flags.ts";
import { groups } from "./groups.ts";
import { textAt } from "./json.ts";
import { findUid } from "./lookup.ts";
import { groupOption } from "./names.ts";

const view: View = {
  noun: "access requests",
  columns: [
    { title: "uid", value: "uid" },
    { title: "who", value: ({ identityName, identityUid }) => String(identityName || identityUid) },
    { title: "role", value: ({ roleName, roleUid }) => String(roleName || roleUid) },
    { title: "at", value: ({ groupName, groupUid }) => String(groupName || groupUid) },
    lasting("for", "duration"),
    { title: "state", value: stateText },
    { title: "reason", value: "reason" },
    { title: "ends", value: "expireTime" },
    { title: "decide before", value: "decideBeforeTime", wide: true },
  ],
};

const requestableView: View = {
  noun: "requestable roles",
  id: "roleUid",
  columns: [
    { title: "role", value: "roleName" },
    { title: "at", value: "groupName" },
    lasting("for at most", "maxDuration"),
    { title: "approvals", value: ({ requiredApprovals }) => String(requiredApprovals ?? 0) },
    { title: "break glass", value: ({ breakGlass }) => (breakGlass === true ? "yes" : "no") },
    { title: "reason", value: "reasonPattern" },
    { title: "rule", value: "ruleName" },
    { title: "group uid", value: "groupUid", wide: true },
  ],
};

/** Adds the commands to those of `gatehouse iam`. */
export function addAccessRequestCommands(iam: Command, shell: Shell): void {
  const parent = iam
    .command("access-requests")
    .description("roles for a time: create, list, requestable, approve, deny, acknowledge, cancel, end");
  addCreate(parent, shell);
  addLists(parent, shell);
  change(parent, shell, "approve", "approve requests of others; the last required approval gives the role");
  change(parent, shell, "deny", "deny requests of others");
  change(parent, shell, "acknowledge", "acknowledge roles that others took by break-glass");
  change(parent, shell, "cancel", "cancel your own pending requests");
  change(parent, shell, "end", "give roles back before their time, or end those of others");
}

interface CreateOptions {
  readonly group: string;
  readonly reason: string;
  readonly for?: string;
  readonly breakGlass?: boolean;
  readonly wait?: boolean;
}

function addCreate(parent: Command, shell: Shell): void {
  const create = parent
    .command("create")
    .description("request a role at a group for a time")
    .argument("<role>", "its name, or its uid")
    .addOption(groupOption("--group", "the group").makeOptionMandatory())
    .option("--for <duration>", "how long, from the approval on: 30m, 2h (default: as long as the rule allows)")
    .requiredOption("--reason <text>", "why you need it")
    .option("--wait", "wait for the decision; exit code 1 unless the role is given")
    .option("--break-glass", "take it at once, without approvals; another person must acknowledge that");
  withClient(create, rowFormats).action(async (role: string) => {
    const { group, reason, for: wanted, breakGlass = false, wait = false } = create.opts<CreateOptions>();
    using session = await openSession(shell, create);
    const { createAccessRequest } = await methods();
    const groupUid = await findUid(session, groups, group);
    const roleUid = await findRequestable(session, role, groupUid);
    const accessRequest = { roleUid, reason, breakGlass, ...(wanted !== undefined && { duration: duration(wanted) }) };
    const made = await session.call(createAccessRequest, { parent: groupUid, accessRequest });
    const isPending = stateOf(made.state) === "pending";
    if (isPending || breakGlass) note(shell, nextStepOf(session, made));
    const decided =
      isPending && wait ? await (await import("./wait-for-decision.ts")).waitForDecision(session, made) : made;
    await session.output.one(view, decided);
    if (isPending && wait && stateOf(decided.state) !== "active")
      throw new CommandFailure(`the request is ${stateOf(decided.state)}${commentOf(decided)}`);
  });
}

/** Returns what others have to do about a request, with its page in the console. */
function nextStepOf(
  { url }: Session,
  { uid = "", requiredApprovals, decideBeforeTime, breakGlass }: JsonObject,
): string {
  const page = `${url}/console/o/${String(uid).split("/")[0]}/requests/${uid}`;
  if (breakGlass === true) return `Another person must acknowledge this: ${page}`;
  const approvals = requiredApprovals === 1 ? "1 approval" : `${requiredApprovals} approvals`;
  return `It needs ${approvals} before ${decideBeforeTime}. Approvers open ${page}\nor run \`gatehouse iam access-requests approve ${uid}\`.`;
}

/** Returns what the last person wrote who decided. */
function commentOf({ decisions }: JsonObject): string {
  const comment = Array.isArray(decisions) ? textAt((decisions as JsonObject[]).at(-1) ?? {}, "comment") : "";
  return comment === "" ? "" : `: ${comment}`;
}

function addLists(parent: Command, shell: Shell): void {
  const list = parent
    .command("list")
    .description("list your own requests, and those that wait for you")
    .addOption(new Option("--to-decide", "only those that wait for your decision, or to be acknowledged by you"))
    .addOption(groupOption("--parent", "all of this group and its subgroups, of everyone"));
  withList(list, rowFormats).action(async () => {
    const { toDecide = false, parent: place } = list.opts<{ toDecide?: boolean; parent?: string }>();
    using session = await openSession(shell, list);
    const rows = place === undefined ? await listOwn(session, !toDecide) : await listBelow(session, place);
    await session.output.list(view, session.output.arrange(view, rows, "as it is"));
  });
  const requestable = parent
    .command("requestable")
    .description("list the roles that you may request, and where")
    .addOption(groupOption("--group", "only those at this group"));
  withList(requestable, rowFormats).action(async () => {
    const { group } = requestable.opts<{ group?: string }>();
    using session = await openSession(shell, requestable);
    const rows = await readRequestable(session, group === undefined ? "" : await findUid(session, groups, group));
    await session.output.list(requestableView, session.output.arrange(requestableView, rows, "as it is"));
  });
}

type Change = "approve" | "deny" | "acknowledge" | "cancel" | "end";

function change(parent: Command, shell: Shell, verb: Change, description: string): void {
  const uids = completing(new Argument("<uid...>", "their uids"), uidsFor(verb));
  const command = parent.command(verb).description(description).addArgument(uids);
  if (verb !== "cancel" && verb !== "end") command.option("--comment <text>", "what the requester should know");
  withClient(command, rowFormats).action(async (uids: string[]) => {
    const { comment } = command.opts<{ comment?: string }>();
    using session = await openSession(shell, command);
    const method = (await methods())[`${verb}AccessRequest`];
    const changed: JsonObject[] = [];
    for (const uid of new Set(uids))
      changed.push(await session.call(method, { uid, ...(comment !== undefined && { comment }) }));
    await session.output.list(view, changed);
  });
}

/** Completes the uids of requests that a command can change. */
function uidsFor(verb: Change) {
  return async (session: Session) => {
    const inbox = await session.call((await methods()).listMyAccessRequests, {});
    const rows = requestsIn(inbox, lists[verb]);
    return rows.map((row) => ({ value: textAt(row, "uid"), description: textAt(row, "reason") }));
  };
}

type InboxList = "toAcknowledge" | "toDecide" | "requests";

/** The lists of an inbox with the requests that a command can change. */
const lists: Readonly<Record<Change, InboxList>> = {
  approve: "toDecide",
  deny: "toDecide",
  acknowledge: "toAcknowledge",
  cancel: "requests",
  end: "requests",
};

/** Returns the requests that wait for the caller, before those of the caller if wanted. */
async function listOwn(session: Session, withOwn: boolean): Promise<JsonObject[]> {
  const inbox = await session.call((await methods()).listMyAccessRequests, {});
  const waiting = [...requestsIn(inbox, "toAcknowledge"), ...requestsIn(inbox, "toDecide")];
  return withOwn ? [...waiting, ...requestsIn(inbox, "requests")] : waiting;
}

function requestsIn(inbox: JsonObject, list: InboxList): JsonObject[] {
  return (inbox[list] as JsonObject[] | undefined) ?? [];
}

async function listBelow(session: Session, place: string): Promise<JsonObject[]> {
  const { listAccessRequests } = await methods();
  const descendantsOf = await findUid(session, groups, place);
  const rows: JsonObject[] = [];
  let pageToken = "";
  do {
    const request = { uidp: { descendantsOf }, pageSize: 200, ...(pageToken !== "" && { pageToken }) };
    const reply = await session.call(listAccessRequests, request);
    rows.push(...((reply.accessRequests as JsonObject[] | undefined) ?? []));
    pageToken = textAt(reply, "nextPageToken");
  } while (pageToken !== "");
  return rows;
}

async function readRequestable(session: Session, group: string): Promise<JsonObject[]> {
  const reply = await session.call((await methods()).listRequestableRoles, group === "" ? {} : { group });
  return (reply.requestableRoles as JsonObject[] | undefined) ?? [];
}

/** Returns the uid of a role that the caller may request at a group, by its name or uid. */
async function findRequestable(session: Session, role: string, group: string): Promise<string> {
  const rows = await readRequestable(session, group);
  const found = rows.filter((row) => textAt(row, "roleName") === role || textAt(row, "roleUid") === role);
  const roleUids = new Set(found.map((row) => textAt(row, "roleUid")));
  if (roleUids.size === 1) return [...roleUids][0]!;
  const names = [...new Set(rows.map((row) => textAt(row, "roleName")))];
  if (roleUids.size > 1) throw wrongUsage(`several roles have the name ${JSON.stringify(role)}`, "Give the uid.");
  const known = names.length > 0 ? `You may request: ${names.join(", ")}.` : "You may request no role there.";
  throw wrongUsage(
    `you may not request a role ${JSON.stringify(role)} at this group`,
    suggestingHint(role, names, known),
  );
}

async function methods() {
  return (await import("../../../gen/gatehouse/access/v1/access_requests_pb.ts")).AccessRequestsService.method;
}

/** Returns the state, and for break-glass whether it was acknowledged. */
function stateText({ state, breakGlass, acknowledgement }: JsonObject): string {
  const suffix = breakGlass === true ? ` (break-glass${acknowledgement ? "" : ", not acknowledged"})` : "";
  return stateOf(state) + suffix;
}

function stateOf(state: unknown): string {
  return String(state ?? "")
    .replace("ACCESS_REQUEST_STATE_", "")
    .toLowerCase();
}
