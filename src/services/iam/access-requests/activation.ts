// Gives the role of a request, and takes it back. An identity has a role at a group once, so the role binding ends with the latest of its
// active requests, or with the term that it has without them.
import { RoleBindingTermsService } from "../../../../gen/gatehouse/access/v1/role_binding_terms_pb.ts";
import { newChild } from "../../../model/uid.ts";
import type { Call } from "../../../pipeline/call.ts";
import { methodPath } from "../../../pipeline/compose.ts";
import { loggedAs } from "../../../storage/collection/logged-as.ts";
import { deleteRow, findRow, insertRow, keepRow, updateRow } from "../../../storage/collection/rows.ts";
import type { Transaction } from "../../../storage/engine/session.ts";
import { groupCollection, identityCollection, roleBindingCollection } from "../../../storage/iam/collections.ts";
import { accessRequestCollection, closed } from "../../../storage/iam/requests/collections.ts";
import { findOpenRequestsOf } from "../../../storage/iam/requests/queries.ts";
import type { AccessRequestRow } from "../../../storage/iam/requests/rows.ts";
import type { RoleBindingRow } from "../../../storage/iam/rows.ts";
import { hasStaticKeys } from "../../../storage/iam/vouchers.ts";
import { requireInForce } from "../delegations/inactive-delegations.ts";
import { adoptKeys } from "../delegations/makers.ts";
import { requireServersWithTerms } from "../role-bindings/term-rules.ts";
import { requireAvailableRole } from "../rules/usable-role.ts";
import { findCurrentBinding } from "../users/ended-bindings.ts";
import { requireNotHeld } from "./grantable.ts";

const { createRoleBindingTerm, updateRoleBindingTerm, endRoleBindingTerm } = RoleBindingTermsService.method;

/** Gives the role of a request from now on. Returns the active request, which the caller stores. */
export async function activate(tx: Transaction, row: AccessRequestRow, call: Call): Promise<AccessRequestRow> {
  await requireServersWithTerms(tx);
  await keepRow(tx, groupCollection, row.parent);
  await requireAvailableRole(tx, row.roleUid, row.parent);
  const known = await findCurrentBinding(tx, row.parent, row.roleUid, row.identityUid);
  const startTime = tx.termTime();
  requireNotHeld(known, startTime);
  const expireTime = startTime + row.duration;
  const ownExpireTime = known ? await ownEndOf(tx, known) : null;
  const roleBindingUid = known ? await extend(tx, known, expireTime) : await bind(tx, row, expireTime);
  await requireKeys(tx, row.identityUid, call);
  return { ...row, state: "ACTIVE", startTime, expireTime, dueTime: expireTime, roleBindingUid, ownExpireTime };
}

async function bind(tx: Transaction, { parent, identityUid, roleUid }: AccessRequestRow, expireTime: number) {
  const times = { createTime: tx.context.time, startTime: null, expireTime };
  const binding: RoleBindingRow = { uid: newChild(parent), parent, identityUid, roleUid, ...times };
  await insertRow(loggedAs(tx, methodPath(createRoleBindingTerm)), roleBindingCollection, binding);
  return binding.uid;
}

async function extend(tx: Transaction, binding: RoleBindingRow, expireTime: number): Promise<string> {
  const after = { ...binding, expireTime: Math.max(binding.expireTime!, expireTime) };
  await updateRow(loggedAs(tx, methodPath(updateRoleBindingTerm)), roleBindingCollection, binding, after);
  return binding.uid;
}

/** Throws if an identity with static keys would lose all access, because the maker of the keys does not hold the role. */
async function requireKeys(tx: Transaction, identityUid: string, call: Call): Promise<void> {
  const identity = await findRow(tx, identityCollection, identityUid);
  if (!identity || !hasStaticKeys(identity)) return;
  await adoptKeys(tx, identityUid, call);
  await requireInForce(tx, "identities", identityUid);
}

/**
 * Returns the end that a binding has without its requests; null if it has none without them. A binding that does not end with its requests
 * has got another term since.
 */
async function ownEndOf(tx: Transaction, binding: RoleBindingRow): Promise<number | null> {
  const active = await findOpenRequestsOf(tx, "roleBindingUid", binding.uid);
  if (active.length === 0) return binding.expireTime;
  const own = active.map(({ ownExpireTime }) => ownExpireTime ?? Number.NEGATIVE_INFINITY);
  const known = Math.max(...own);
  const expected = Math.max(known, ...active.map(({ expireTime }) => expireTime!));
  if (binding.expireTime !== expected) return binding.expireTime;
  return known === Number.NEGATIVE_INFINITY ? null : known;
}

/** Ends an active request, and the role, unless another request or the own term of the binding gives it for longer. */
export async function endActive(tx: Transaction, row: AccessRequestRow): Promise<AccessRequestRow> {
  const now = tx.termTime();
  const binding = await findRow(tx, roleBindingCollection, row.roleBindingUid!);
  const own = binding && (await ownEndOf(tx, binding));
  // Before the binding changes: its deletion ends the active requests that are left.
  const ended = await updateRow(tx, accessRequestCollection, row, closed(row, "ENDED", now));
  // A binding that has lost its end since is kept.
  if (!binding || binding.expireTime === null) return ended;
  const others = await findOpenRequestsOf(tx, "roleBindingUid", binding.uid);
  const ends = [own ?? now, ...others.map(({ expireTime }) => expireTime!)];
  const expireTime = Math.min(binding.expireTime, Math.max(...ends));
  if (expireTime > now)
    await updateRow(loggedAs(tx, methodPath(updateRoleBindingTerm)), roleBindingCollection, binding, {
      ...binding,
      expireTime,
    });
  else await deleteRow(loggedAs(tx, methodPath(endRoleBindingTerm)), roleBindingCollection, binding);
  return ended;
}
