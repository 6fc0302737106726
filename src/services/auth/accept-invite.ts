// Accepts group invites: the code gives the role, within the limits of the invite.
import { timingSafeEqual } from "node:crypto";
import { GroupInviteSchema } from "../../../gen/chainguard/platform/iam/v2beta1/group_invites_pb.ts";
import { ApiError, failedPrecondition, notFound, permissionDenied } from "../../aip/errors.ts";
import { resourceType } from "../../aip/resource-type.ts";
import { deleteRow, findRow, lockRow } from "../../storage/collection/rows.ts";
import type { Transaction } from "../../storage/engine/session.ts";
import { groupInviteCollection, roleCollection } from "../../storage/iam/collections.ts";
import { findInvite } from "../../storage/iam/group-invites.ts";
import type { GroupInviteRow } from "../../storage/iam/rows.ts";
import { endOf, requireInForce } from "../iam/delegations/inactive-delegations.ts";
import { digestInviteCode } from "../iam/invites/invite-code.ts";
import { accept } from "../iam/users/membership.ts";
import { ensureRoleBinding, type Person } from "./users.ts";

/**
 * Binds the role of an invite to a registered user. Returns the uid of the group.
 *
 * `vouches` says whether the verified addresses of the issuer count in a group. Throws NOT_FOUND for an unknown code,
 * FAILED_PRECONDITION for an invite that expired or whose maker no longer holds its role, and PERMISSION_DENIED for an invite of
 * another address.
 */
export async function acceptInvite(
  tx: Transaction,
  code: string,
  identityUid: string,
  person: Person,
  vouches: (groupUid: string) => boolean,
): Promise<string> {
  const invite = await readInvite(tx, code, person, vouches);
  // A role that the maker has for a time only ends with the maker's access.
  const expireTime = await endOf(tx, "group_invites", invite.uid);
  await ensureRoleBinding(tx, identityUid, invite.roleUid, invite.parent, expireTime);
  await accept(tx, identityUid, invite.parent);
  if (invite.singleUse) await deleteRow(tx, groupInviteCollection, invite);
  return invite.parent;
}

/** Returns the invite with a code, and locks it. Throws unless the person may accept it: see `acceptInvite`. */
export async function readInvite(
  tx: Transaction,
  code: string,
  person: Person,
  vouches: (groupUid: string) => boolean,
): Promise<GroupInviteRow> {
  const invite = await findByCode(tx, code);
  // The code is a secret: the error does not repeat it.
  if (!invite) throw noSuchInvite();
  if (invite.expirationTime <= tx.context.time) {
    throw failedPrecondition("INVITE_EXPIRED", "the invite has expired; ask for a new one", invite.uid);
  }
  checkRecipient(invite, person, vouches);
  if (!(await findRow(tx, roleCollection, invite.roleUid))) {
    throw failedPrecondition("ROLE_DELETED", "the role of the invite was deleted; ask for a new invite", invite.uid);
  }
  await requireInForce(tx, "group_invites", invite.uid);
  return invite;
}

/**
 * Deletes an invite for one person, who declines it. An organization that the person has not joined does not learn who did it: without
 * `isKnown`, the change log does not say so.
 */
export async function dropInvite(
  tx: Transaction,
  code: string,
  person: Person,
  vouches: (groupUid: string) => boolean,
  isKnown: boolean,
): Promise<void> {
  const invite = await readInvite(tx, code, person, vouches);
  if (!invite.singleUse) return;
  const by = { actor: "", method: tx.context.method, requestId: "" };
  const unsigned: Transaction = { ...tx, logChange: (entry) => tx.logChange({ ...entry, by }) };
  await deleteRow(isKnown ? tx : unsigned, groupInviteCollection, invite);
}

function noSuchInvite(): ApiError {
  const { code, details } = notFound(resourceType(GroupInviteSchema), "of this code");
  const message = "Not found: there is no invite with this code: it was used, deleted or mistyped; ask for a new one";
  return new ApiError(code, message, { details });
}

async function findByCode(tx: Transaction, code: string): Promise<GroupInviteRow | undefined> {
  if (!/^[0-9a-f]{96}$/.test(code)) return undefined;
  const found = await findInvite(tx, code.slice(0, 32));
  // Serializes concurrent acceptances of one invite (security case Q3).
  const row = found && (await lockRow(tx, groupInviteCollection, found.uid));
  if (!row) return undefined;
  const [stored, presented] = [row.codeDigest, digestInviteCode(code)].map((digest) => Buffer.from(digest, "hex"));
  return timingSafeEqual(stored!, presented!) ? row : undefined;
}

// Security case X11: the address must match exactly, and a trusted issuer must have verified it.
function checkRecipient(
  { recipient, parent }: GroupInviteRow,
  { claims: { email, emailVerified } }: Person,
  vouches: (groupUid: string) => boolean,
): void {
  if (recipient === "") return;
  const isVerified = emailVerified === true && email !== undefined;
  if (isVerified && email === recipient && vouches(parent)) return;
  const remedy = isVerified
    ? "sign in with the address that was invited"
    : "the login provider has not verified your address";
  throw permissionDenied(`the invite is for another address: ${remedy}`);
}
