// Prints the server's explanation of an access decision or a token exchange.
import type { JsonObject } from "@bufbuild/protobuf";
import { AccessService } from "../../../gen/gatehouse/access/v1/access_pb.ts";
import { AccessRequestsService } from "../../../gen/gatehouse/access/v1/access_requests_pb.ts";
import type { Session } from "../client/session.ts";
import { printable } from "../escape.ts";
import { CommandFailure } from "../failure.ts";
import type { View } from "../output/view.ts";
import { withEnds } from "../resources/binding-terms.ts";
import { findCapabilities } from "../resources/capabilities.ts";
import { identities } from "../resources/identities.ts";
import { textAt } from "../resources/json.ts";
import { findUid } from "../resources/lookup.ts";
import { findPlace } from "../resources/place.ts";
import { readIdentityTokenFile } from "./identity-token.ts";

const bindingView: View = {
  noun: "bindings",
  columns: [
    { title: "role", value: ({ roleName, roleUid }) => String(roleName ?? roleUid ?? "(not yours to see)") },
    { title: "group", value: ({ groupName, groupUid }) => String(groupName ?? groupUid) },
    { title: "binding", value: ({ roleBindingUid }) => String(roleBindingUid ?? "(not yours to see)") },
  ],
};

const checkView: View = {
  noun: "checks",
  columns: [
    { title: "check", value: "name" },
    { title: "outcome", value: ({ outcome }) => String(outcome).replace("CHECK_OUTCOME_", "").toLowerCase() },
    { title: "detail", value: "detail" },
  ],
};

/** Prints yes or no with the reason. No is a failure of the command. */
export async function explainAccess(session: Session, capability: string, group: string, as: string | undefined) {
  await findCapabilities([capability]);
  const request = {
    group: await findPlace(session, group),
    capability,
    ...(as !== undefined && { identity: await findUid(session, identities, as) }),
  };
  const reply = await session.call(AccessService.method.explainAccess, request);
  const granted = reply.granted === true;
  if (session.output.isPlain) await printAnswer(session, reply, request);
  else await session.output.one(bindingView, { granted, ...reply });
  if (!granted)
    throw new CommandFailure(reasons[String(reply.reason)] ?? "access is not granted", {
      hint: await requestHint(session, reply, request.group),
    });
}

/** Returns the commands that request what is missing; empty if the caller can request nothing. */
async function requestHint(session: Session, { requestableRoleUids }: JsonObject, group: string): Promise<string> {
  if (!Array.isArray(requestableRoleUids)) return "";
  const { listRequestableRoles } = AccessRequestsService.method;
  const listed = async (request: JsonObject) =>
    ((await session.call(listRequestableRoles, request)).requestableRoles ?? []) as JsonObject[];
  const isAble = ({ roleUid }: JsonObject) => requestableRoleUids.includes(roleUid ?? "");
  const here = (await listed({ group })).filter(isAble);
  // A repo has no requests of its own: they are made at a group above it.
  const rows = here.length > 0 ? here : (await listed({})).filter(isAble);
  const commands = rows.map((row) => {
    const name = textAt(row, "roleName");
    // A name can have characters that a shell does not take as they are.
    const role = /^[\w.-]+$/.test(name) ? name : textAt(row, "roleUid");
    return `gatehouse iam access-requests create ${role} --group ${textAt(row, "groupUid")} --reason TEXT`;
  });
  const [first, ...others] = [...new Set(commands)].slice(0, 3);
  return first === undefined
    ? ""
    : [`You can request it: \`${first}\``, ...others.map((each) => `or \`${each}\``)].join("\n");
}

const reasons: Readonly<Record<string, string>> = {
  ACCESS_REASON_NO_BINDING: "there is no role binding there or above, or none that you can see",
  ACCESS_REASON_ROLE_LACKS_CAPABILITY: "none of the roles that are bound there or above has the capability",
  ACCESS_REASON_IDENTITY_CONFINED: "the identity belongs to a subgroup and has no access outside of it",
  ACCESS_REASON_IDENTITY_SUSPENDED: "an identity provider of the organization has deactivated the person",
  ACCESS_REASON_TERM_ENDED: "the role binding that would give it has ended",
  ACCESS_REASON_TERM_NOT_STARTED: "the role binding that would give it begins later",
  ACCESS_REASON_TOKEN_NARROWED: "the token in use is narrowed to other groups or capabilities",
};

async function printAnswer(
  session: Session,
  reply: JsonObject,
  { capability, group }: { capability: string; group: string },
) {
  const granted = reply.granted === true;
  session.shell.stdout.write(`${granted ? "yes" : "no"}: ${printable(capability)} at ${group}\n`);
  const bindings = (granted ? reply.granting : (reply.outOfTerm ?? reply.lacking)) as JsonObject[] | undefined;
  if (bindings?.length)
    await session.output.list(
      withEnds(bindingView, bindings, (binding) => [binding]),
      bindings,
    );
}

/** Prints each check of an exchange. A failed check is a failure of the command. */
export async function explainExchange(session: Session, identity: string, tokenFile: string): Promise<void> {
  const token = readIdentityTokenFile("--token-file", tokenFile);
  const uid = await findUid(session, identities, identity);
  const reply = await session.call(AccessService.method.explainExchange, { identity: uid, token });
  const checks = (reply.checks ?? []) as JsonObject[];
  if (session.output.isPlain) await session.output.list(checkView, checks);
  else await session.output.one(checkView, { allowed: reply.allowed === true, checks });
  const failed = checks.filter(({ outcome }) => outcome === "CHECK_OUTCOME_FAILED").map(({ name }) => name);
  if (reply.allowed !== true) {
    throw new CommandFailure(`the exchange would be denied: ${printable(failed.join(", "))}`, {
      hint: `See \`gatehouse iam identities describe ${uid} -o yaml\` for its requirements.`,
    });
  }
}
