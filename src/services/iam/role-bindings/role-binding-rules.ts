// The rules of the references of a role binding, and of a batch of bindings.
import { IdentitySchema } from "../../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import type { RoleBinding } from "../../../../gen/chainguard/platform/iam/v2beta1/role_bindings_pb.ts";
import { type FieldViolation, invalidArgument, notFound, permissionDenied } from "../../../aip/errors.ts";
import { resourceType } from "../../../aip/resource-type.ts";
import { missingTexts, newViolations } from "../../../aip/violations.ts";
import { isBuiltInRole } from "../../../authz/built-in-roles.ts";
import { noTerm, type Term } from "../../../model/grants.ts";
import type { Call } from "../../../pipeline/call.ts";
import { findRow, lockRow } from "../../../storage/collection/rows.ts";
import type { Session, Transaction } from "../../../storage/engine/session.ts";
import { groupCollection, identityCollection } from "../../../storage/iam/collections.ts";
import type { RoleBindingRow } from "../../../storage/iam/rows.ts";
import { noEnd, requireLastingCall } from "../rules/escalation.ts";
import { givesOwner, requireOtherOwner } from "../rules/last-owner.ts";
import { isReachable } from "../rules/reachable-owners.ts";
import { requireUsableRole } from "../rules/usable-role.ts";
import { isKnownAt } from "../users/membership.ts";
import { createPendingUser } from "../users/pending-users.ts";
import { isUserUid } from "../users/user-uid.ts";
import { isBindable } from "./hydration.ts";

/** The maximum size of a batch (AIP-233). */
export const maxBatch = 25;

/** Checks that both fields are set. The specification requires them, although the published field annotations call them optional. */
export function checkRoleBinding({
  identityUid,
  roleUid,
}: Pick<RoleBinding, "identityUid" | "roleUid">): FieldViolation[] {
  return missingTexts({ identity_uid: identityUid, role_uid: roleUid });
}

/** Returns the bindings of a batch with their roles. AIP-233: the parent of an item is empty or that of the batch. */
export function batchItems(
  parent: string,
  requests: readonly { parent: string; roleBinding?: RoleBinding | undefined }[],
  roleUid: string,
): RoleBinding[] {
  const violations = newViolations();
  if (requests.length > maxBatch) violations.add("requests", `must not have more than ${maxBatch} items`);
  const items = requests.slice(0, maxBatch).flatMap((request, index) => {
    const at = `requests[${index}]`;
    if (request.parent !== "" && request.parent !== parent)
      violations.add(`${at}.parent`, "must be empty or the parent of the batch");
    if (!request.roleBinding) return [];
    const item = { ...request.roleBinding, roleUid: request.roleBinding.roleUid || roleUid };
    if (roleUid !== "" && item.roleUid !== roleUid)
      violations.add(`${at}.role_binding.role_uid`, "must be empty or the role_uid of the batch");
    violations.addAll(
      checkRoleBinding(item).map(({ field, description }) => ({ field: `${at}.role_binding.${field}`, description })),
    );
    return [item];
  });
  violations.throwIfAny();
  return items;
}

/** Throws unless a binding names identity and role, and the caller may give the role in the group until the binding ends. */
export async function requireReferences(
  session: Session,
  binding: Pick<RoleBinding, "identityUid" | "roleUid">,
  groupUid: string,
  call: Call,
  { expireTime }: Pick<Term, "expireTime"> = noTerm,
): Promise<void> {
  const violations = checkRoleBinding(binding);
  if (violations.length > 0) throw invalidArgument(violations);
  const end = expireTime ?? noEnd;
  requireLastingCall(call, groupUid, end);
  await requireUsableRole(session, binding.roleUid, groupUid, call, end);
}

/**
 * Throws unless the caller may bind the identity in the group. Creates a pending user for the uid of a user who has not signed in
 * yet, which LookupIdentity returns.
 */
export async function requireIdentity(
  tx: Transaction,
  { identityUid }: Pick<RoleBinding, "identityUid">,
  groupUid: string,
  call: Call,
): Promise<void> {
  if (!(await requireBindable(tx, identityUid, groupUid, call))) await createPendingUser(tx, identityUid);
}

/** Throws unless the caller may bind the identity in the group. Returns the identity; undefined for a user who is not stored yet. */
export async function requireBindable(session: Session, identityUid: string, groupUid: string, call: Call) {
  // Security case I7: checked before reading, because the error must not reveal identities of other organizations.
  if (!isBindable({ identityUid, parent: groupUid }, call)) {
    throw permissionDenied(
      `identity ${identityUid} belongs to another organization, in which the caller lacks identity.list`,
      {
        capability: "identity.list",
        scope: identityUid,
      },
    );
  }
  const found = await findRow(session, identityCollection, identityUid);
  if (!found && !(await mayBeUser(session, identityUid))) throw notFound(resourceType(IdentitySchema), identityUid);
  return found;
}

/** Whether a changed binding makes a known identity an owner of the organization, and one that can get a token now. */
export async function keepsOwner(
  session: Session,
  before: RoleBindingRow,
  after: RoleBindingRow,
  now: number,
): Promise<boolean> {
  const { parent, identityUid } = after;
  if (!givesOwner(after) || !(await isKnownAt(session, identityUid, parent))) return false;
  // Nothing changes.
  if (identityUid === before.identityUid && after.roleUid === before.roleUid) return true;
  const identity = await findRow(session, identityCollection, identityUid);
  return identity !== undefined && (await isReachable(session, parent, { identity, isFounder: false }, { now }));
}

/**
 * Throws LAST_OWNER if a change of a binding takes away the last owner of an organization, and keeps others from being removed or
 * deactivated until the end of the transaction.
 */
export async function requireKeptOwner(
  tx: Transaction,
  before: RoleBindingRow,
  after: RoleBindingRow,
  call: Call,
): Promise<void> {
  if (givesOwner(before)) await lockRow(tx, groupCollection, before.parent);
  const { time } = tx.context;
  if (!(await keepsOwner(tx, before, after, time))) await requireOtherOwner(tx, before, call, time);
}

/**
 * Whether a missing identity can become a pending user. Security case R6: the uid of a group or role must not become that of a user,
 * because counters are stored by uid.
 */
export async function mayBeUser(session: Session, uid: string): Promise<boolean> {
  return isUserUid(uid) && !isBuiltInRole(uid) && !(await findRow(session, groupCollection, uid));
}
