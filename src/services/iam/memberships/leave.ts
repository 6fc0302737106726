// Ends what a person has in an organization: at the request of the person or of the organization.

import { isBelow, rootOf } from "../../../model/uid.ts";
import type { Call } from "../../../pipeline/call.ts";
import { ConcurrencyConflict } from "../../../storage/engine/errors.ts";
import type { Session, Transaction } from "../../../storage/engine/session.ts";
import { deleteMembership, findBindingsIn, type Membership } from "../../../storage/iam/memberships.ts";
import { findMemberships, deleteMembership as leaveProvider } from "../../../storage/iam/providers.ts";
import { findBinding } from "../../../storage/iam/role-bindings.ts";
import type { RoleBindingRow } from "../../../storage/iam/rows.ts";
import { deleteRefreshFamily, listRefreshFamilies } from "../../../storage/sign-in/sign-ins.ts";
import { refuseLastOwner } from "../rules/last-owner.ts";
import { deleteBinding, deleteUnnoticed } from "../users/binding-deletion.ts";
import { logMembership } from "../users/membership.ts";
import { deleteUnusedPendingUser } from "../users/pending-users.ts";

/** How many bindings are deleted between two reads. */
const batch = 500;

/**
 * Deletes the role bindings of a person in an organization that the person has not joined. Returns whether there were any.
 *
 * The organization does not learn who did it, and the person does not count as its last owner.
 */
export async function declineOrganization(tx: Transaction, person: Membership): Promise<boolean> {
  const count = await deleteBindings(tx, person, (binding) => deleteUnnoticed(tx, binding));
  await deleteUnusedPendingUser(tx, person.identityUid);
  return count > 0;
}

/**
 * Deletes the membership and the role bindings of a person in an organization, and ends the sign-ins by its identity providers. Throws
 * LAST_OWNER if the organization would be left without an owner.
 */
export async function leaveOrganization(tx: Transaction, person: Membership, call: Call): Promise<void> {
  await forgetProviders(tx, person);
  await endMembership(tx, person, call);
  await endSessions(tx, person);
}

/**
 * Deletes the membership, if there is one, and the role bindings of a person in an organization. Throws LAST_OWNER if the organization would
 * be left without an owner, and ConcurrencyConflict, which runs the transaction again, for a role binding that is not in `seen`.
 */
export async function endMembership(
  tx: Transaction,
  person: Membership,
  call: Call,
  seen?: ReadonlySet<string>,
): Promise<void> {
  await deleteBindings(tx, person, async (binding) => {
    // Another transaction may bind a role between two reads: nobody has checked whether the caller may delete this one.
    if (seen?.has(binding.uid) === false) throw new ConcurrencyConflict("the person has got another role binding");
    await refuseLastOwner(tx, binding, call);
    await deleteBinding(tx, binding);
  });
  const joinTime = await deleteMembership(tx, person);
  if (joinTime !== undefined) logMembership(tx, person, { before: { joinTime }, after: null });
  await deleteUnusedPendingUser(tx, person.identityUid);
  tx.changeAccess();
}

/** Ends the sessions of a person by the identity providers of an organization. */
export async function endSessions(tx: Transaction, person: Membership): Promise<void> {
  for (const { id } of await findSessions(tx, person)) await deleteRefreshFamily(tx, id);
}

/** Returns the sessions of a person by the identity providers of an organization. */
export async function findSessions(session: Session, { identityUid, groupUid }: Membership) {
  const families = await listRefreshFamilies(session, identityUid);
  return families.filter(({ signIn }) => isBelow(signIn.provider, groupUid));
}

async function deleteBindings(
  tx: Transaction,
  person: Membership,
  remove: (binding: RoleBindingRow) => Promise<void>,
): Promise<number> {
  for (let count = 0; ; ) {
    const bindings = await findBindingsIn(tx, person, batch);
    for (const binding of bindings) await remove(binding);
    count += bindings.length;
    if (bindings.length < batch) return count;
  }
}

/** Lets a user who joins again by a provider get its default role again, unless the organization has removed the role. */
async function forgetProviders(tx: Transaction, { identityUid, groupUid }: Membership): Promise<void> {
  for (const { providerUid, groupUid: home, defaultRole } of await findMemberships(tx, identityUid)) {
    const isHere = rootOf(providerUid) === groupUid;
    if (isHere && (await findBinding(tx, home, defaultRole, identityUid)))
      await leaveProvider(tx, providerUid, identityUid);
  }
}
