// Removes a person from an organization by their own will.

import { RoleBindingsService } from "../../../../gen/chainguard/platform/iam/v2beta1/role_bindings_pb.ts";
import { isBelow, rootOf } from "../../../model/uid.ts";
import type { Call } from "../../../pipeline/call.ts";
import { methodPath } from "../../../pipeline/compose.ts";
import { deleteRow } from "../../../storage/collection/rows.ts";
import type { Transaction, WriteContext } from "../../../storage/engine/session.ts";
import { roleBindingCollection } from "../../../storage/iam/collections.ts";
import { deleteMembership, findBindingsIn, type Membership } from "../../../storage/iam/memberships.ts";
import { findMemberships, deleteMembership as leaveProvider } from "../../../storage/iam/providers.ts";
import { findBinding } from "../../../storage/iam/role-bindings.ts";
import type { RoleBindingRow } from "../../../storage/iam/rows.ts";
import { deleteRefreshFamily, listRefreshFamilies } from "../../../storage/sign-in/sign-ins.ts";
import { refuseLastOwner } from "../rules/last-owner.ts";
import { logMembership } from "../users/membership.ts";
import { deleteUnusedPendingUser } from "../users/pending-users.ts";

/** How many bindings are deleted between two reads. */
const batch = 500;

/** The deletion of a binding is logged under the method that usually deletes it, whose event subscribers know. */
const deletion = methodPath(RoleBindingsService.method.deleteRoleBinding);

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
  await deleteBindings(tx, person, async (binding) => {
    await refuseLastOwner(tx, binding, call);
    const { actor, actorClaims, requestId } = tx.context;
    await deleteBinding(tx, binding, { actor, actorClaims, requestId });
  });
  const joinTime = await deleteMembership(tx, person);
  if (joinTime !== undefined) logMembership(tx, person, { before: { joinTime }, after: null });
  for (const { id, signIn } of await listRefreshFamilies(tx, person.identityUid))
    if (isBelow(signIn.provider, person.groupUid)) await deleteRefreshFamily(tx, id);
  tx.changeAccess();
}

/** Deletes a binding of a person who has not joined the organization. The change log does not say who did it. */
export async function deleteUnnoticed(tx: Transaction, binding: RoleBindingRow): Promise<void> {
  await deleteBinding(tx, binding, { actor: "", requestId: "" });
}

async function deleteBinding(
  tx: Transaction,
  binding: RoleBindingRow,
  author: Pick<WriteContext, "actor" | "actorClaims" | "requestId">,
): Promise<void> {
  const by = { ...author, method: deletion };
  await deleteRow({ ...tx, logChange: (entry) => tx.logChange({ ...entry, by }) }, roleBindingCollection, binding);
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
