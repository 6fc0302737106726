import { Capability } from "../../../../gen/chainguard/capabilities/capabilities_pb.ts";
import { failedPrecondition } from "../../../aip/errors.ts";
import { ownerRole } from "../../../authz/built-in-roles.ts";
import { hasTerm } from "../../../model/grants.ts";
import { accessOf } from "../../../pipeline/authorize.ts";
import type { Call } from "../../../pipeline/call.ts";
import { lockRow } from "../../../storage/collection/rows.ts";
import type { Session, Transaction } from "../../../storage/engine/session.ts";
import { groupCollection } from "../../../storage/iam/collections.ts";
import { effectiveGroup } from "../../../storage/iam/grants.ts";
import { findRootBindingsOf } from "../../../storage/iam/role-bindings.ts";
import type { IdentityRow, RoleBindingRow } from "../../../storage/iam/rows.ts";
import { hasReachableOwner, isReachable, type OwnerQuery } from "./reachable-owners.ts";

/** The reason of the error for a change that would leave an organization without an owner. */
export const lastOwnerReason = "LAST_OWNER";

/** How many organizations an identity may own when its relationship changes: each must keep an owner. */
const maxOwned = 1_000;

/** Whether the binding makes its identity an owner of an organization. One that has an end does not count, nor one that begins later. */
export function givesOwner({ parent, roleUid, identityUid, ...term }: RoleBindingRow): boolean {
  return (
    !hasTerm(term) &&
    roleUid === ownerRole.uid &&
    !parent.includes("/") &&
    effectiveGroup(identityUid, parent) === parent
  );
}

/**
 * Throws LAST_OWNER if the binding is that of the last owner of an organization, and keeps others from being removed until the end of
 * the transaction.
 */
export async function refuseLastOwner(tx: Transaction, binding: RoleBindingRow, call: Call): Promise<void> {
  // Serializes concurrent removals: the second owner who leaves must see that the first is gone.
  if (givesOwner(binding)) await lockRow(tx, groupCollection, binding.parent);
  await requireOtherOwner(tx, binding, call, tx.context.time);
}

/**
 * Whether the binding is that of the last owner of an organization. Keeps its other owners from being removed until the end of the
 * transaction.
 */
export async function isLastOwner(tx: Transaction, binding: RoleBindingRow): Promise<boolean> {
  if (!givesOwner(binding)) return false;
  await lockRow(tx, groupCollection, binding.parent);
  const query = { now: tx.context.time, withoutBinding: binding.uid };
  return !(await hasReachableOwner(tx, binding.parent, query));
}

/**
 * Throws LAST_OWNER if a change of who may assume an identity leaves an organization without an owner who can get a token. `after` is the
 * changed identity, and `keepsFounded` says whether what it holds as the creator of organizations still needs nobody's authority.
 */
export async function refuseUnreachable(tx: Transaction, after: IdentityRow, keepsFounded: boolean, call: Call) {
  const { time } = tx.context;
  const bindings = await findRootBindingsOf(tx, after.uid, ownerRole.uid, maxOwned + 1);
  if (bindings.length > maxOwned)
    throw failedPrecondition("TOO_MANY_BINDINGS", `the identity owns more than ${maxOwned} organizations`, after.uid);
  for (const { isFounder, ...binding } of bindings) {
    if (givesOwner(binding)) await lockRow(tx, groupCollection, binding.parent);
    const holder = { identity: after, isFounder: isFounder && keepsFounded };
    if (!(await isReachable(tx, binding.parent, holder, { now: time })))
      await requireOtherOwner(tx, binding, call, time);
  }
}

/**
 * Throws LAST_OWNER if the binding is that of the last owner of an organization. The error names the organization only to callers who
 * can see it: an identity can own organizations that its administrators do not know.
 */
export async function requireOtherOwner(
  session: Session,
  binding: RoleBindingRow,
  call: Call,
  now: number,
): Promise<void> {
  if (!givesOwner(binding)) return;
  if (await hasReachableOwner(session, binding.parent, { now, withoutBinding: binding.uid })) return;
  if (canSee(call, binding.parent))
    throw failedPrecondition(
      lastOwnerReason,
      "an organization must keep an owner; bind another one first",
      binding.parent,
    );
  throw failedPrecondition(
    lastOwnerReason,
    "the identity is the last owner of an organization that you cannot see; an organization must keep an owner",
    binding.identityUid,
  );
}

/** Whether the caller can see an organization: errors name no other. */
export function canSee(call: Call, groupUid: string): boolean {
  return accessOf(call).has(Capability.CAP_IAM_GROUPS_LIST, groupUid);
}

/**
 * Runs a change, and throws the error of `lost` for an organization that had an owner who could get a token before it and has none after
 * it. `withoutProvider` is an identity provider by which nobody can sign in after the change.
 */
export async function keepOwners<T>(
  tx: Transaction,
  organizations: readonly string[],
  change: () => Promise<T>,
  { lost, withoutProvider }: Pick<OwnerQuery, "withoutProvider"> & { readonly lost: (groupUid: string) => Error },
): Promise<T> {
  const { time: now } = tx.context;
  const owned: string[] = [];
  for (const uid of organizations) {
    // Before the owners are read: a concurrent change may just take away all others.
    await lockRow(tx, groupCollection, uid);
    if (await hasReachableOwner(tx, uid, { now })) owned.push(uid);
  }
  const result = await change();
  for (const uid of owned) if (!(await hasReachableOwner(tx, uid, { now, withoutProvider }))) throw lost(uid);
  return result;
}
