// Takes away the access of people whom a SCIM client deactivates or deletes, and gives it back (docs/decisions/0094).
import { failedPrecondition } from "../../../aip/errors.ts";
import { rootOf } from "../../../model/uid.ts";
import { deleteRow, findRow, lockRow, rowExists } from "../../../storage/collection/rows.ts";
import type { Transaction } from "../../../storage/engine/session.ts";
import {
  groupCollection,
  identityCollection,
  identityProviderCollection,
  roleBindingCollection,
} from "../../../storage/iam/collections.ts";
import type { IdentityProviderRow } from "../../../storage/iam/provider-rows.ts";
import { findBindingsOf } from "../../../storage/iam/role-bindings.ts";
import type { RoleBindingRow } from "../../../storage/iam/rows.ts";
import { deleteSuspension, findSuspendedBindings, insertSuspension } from "../../../storage/iam/scim-suspensions.ts";
import type { ScimUserRow } from "../../../storage/iam/scim-users.ts";
import { namesIdentity } from "../../../storage/iam/suspended-identities.ts";
import { deleteRefreshFamily, listRefreshFamilies } from "../../../storage/sign-in/sign-ins.ts";
import { lastOwnerReason } from "../rules/last-owner.ts";
import { hasReachableOwner } from "../rules/reachable-owners.ts";
import { deleteUnusedPendingUser } from "../users/pending-users.ts";
import { issuerSpellings, userUid } from "../users/user-uid.ts";
import { correlatesByOid } from "./admission.ts";
import { findIdentitiesOfSuspended, maxCompared } from "./named-people.ts";

/** The maximum number of role bindings that are deleted with a provider. */
const maxBindings = 5_000;

/** Returns the identity that signs in as a user with this externalId; null if only a sign-in tells. */
export function identityOf(
  provider: IdentityProviderRow,
  before: ScimUserRow | undefined,
  externalId: string | null,
): string | null {
  if (externalId === null) return null;
  if (!correlatesByOid(provider)) return userUid(provider.issuer, externalId);
  return before?.externalId === externalId ? before.identityUid : null;
}

/** Adapts suspensions and sessions to a change of a provisioned user. `after` is undefined for a deletion. */
export async function followUser(
  tx: Transaction,
  before: ScimUserRow | undefined,
  after: ScimUserRow | undefined,
): Promise<void> {
  const { providerUid } = (after ?? before)!;
  const [former, current] = [before?.identityUid ?? null, after?.identityUid ?? null];
  // The provider has no person for this identity any more. The person loses access, if there is an identity that they can assume.
  if (former !== null && former !== current) {
    if (await hasIdentity(tx, before!, former)) await suspend(tx, providerUid, former);
    else await deleteSuspension(tx, providerUid, former);
  }
  if (after && current !== null) {
    if (!after.isActive) await suspend(tx, providerUid, current);
    else await deleteSuspension(tx, providerUid, current);
  }
  tx.changeAccess();
}

/** Whether a person has registered, or an identity of the organization names the person. */
async function hasIdentity(tx: Transaction, { providerUid, externalId }: ScimUserRow, identityUid: string) {
  if (await rowExists(tx, identityCollection, identityUid)) return true;
  const provider = await findRow(tx, identityProviderCollection, providerUid);
  if (!provider || externalId === null || identityOf(provider, undefined, externalId) !== identityUid) return false;
  return await namesIdentity(tx, rootOf(providerUid), issuerSpellings(provider.issuer), externalId);
}

/** Ends the access of an identity to the organization of a provider, and its sessions by the provider. */
export async function suspend(tx: Transaction, providerUid: string, identityUid: string): Promise<void> {
  await keepOwner(tx, rootOf(providerUid), () => insertSuspension(tx, providerUid, identityUid));
  for (const { id, signIn } of await listRefreshFamilies(tx, identityUid))
    if (signIn.provider === providerUid) await deleteRefreshFamily(tx, id);
}

/** Suspended owners, and identities that name them, do not count as owners: throws LAST_OWNER if no owner is left. */
async function keepOwner(tx: Transaction, groupUid: string, change: () => Promise<void>): Promise<void> {
  // Before the owners are read: a concurrent change may just make the person the only one.
  await lockRow(tx, groupCollection, groupUid);
  const { time } = tx.context;
  const hadOwner = await hasReachableOwner(tx, groupUid, time);
  await change();
  if (!hadOwner || (await hasReachableOwner(tx, groupUid, time))) return;
  throw failedPrecondition(
    lastOwnerReason,
    "the person is the last owner of the organization; bind another one first",
    groupUid,
  );
}

/**
 * Deletes the role bindings that suspensions of a provider keep from having effect: with the provider the suspensions go,
 * and must not give access back.
 */
export async function deleteSuspendedBindings(tx: Transaction, providerUid: string): Promise<void> {
  const bindings = [
    ...(await findSuspendedBindings(tx, providerUid, maxBindings + 1)),
    ...(await findBindingsOfNamed(tx, providerUid)),
  ];
  if (bindings.length > maxBindings)
    throw failedPrecondition(
      "TOO_MANY_BINDINGS",
      `people whom the identity provider deactivated hold more than ${maxBindings} role bindings; delete bindings first`,
      providerUid,
    );
  for (const binding of bindings) await deleteRow(tx, roleBindingCollection, binding);
  for (const uid of new Set(bindings.map(({ identityUid }) => identityUid))) await deleteUnusedPendingUser(tx, uid);
  tx.changeAccess();
}

/** Returns the role bindings of identities that only a person can assume whom nobody but this provider has deactivated. */
async function findBindingsOfNamed(tx: Transaction, providerUid: string): Promise<RoleBindingRow[]> {
  const organization = rootOf(providerUid);
  const { found, isWhole } = await findIdentitiesOfSuspended(tx, organization);
  if (!isWhole)
    throw failedPrecondition(
      "TOO_MANY_IDENTITIES",
      `more than ${maxCompared} identities have the issuer of people whom the identity provider deactivated; delete identities first`,
      providerUid,
    );
  const bindings: RoleBindingRow[] = [];
  for (const { uid, suspensions } of found) {
    if (suspensions.some((suspension) => suspension.providerUid !== providerUid)) continue;
    const held = await findBindingsOf(tx, "identityUid", uid, maxBindings + 1);
    // What an identity of another organization holds elsewhere is not for this one to take away.
    bindings.push(...held.filter(({ parent }) => [uid, parent].map(rootOf).includes(organization)));
  }
  return bindings;
}
