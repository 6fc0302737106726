// Takes away the access of people whom a SCIM client deactivates or deletes, and gives it back (docs/design/sign-in.md).
import { failedPrecondition } from "../../../aip/errors.ts";
import { rootOf } from "../../../model/uid.ts";
import { deleteRow, findRow, rowExists } from "../../../storage/collection/rows.ts";
import type { Transaction } from "../../../storage/engine/session.ts";
import {
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
import { keepOwners, lastOwnerReason } from "../rules/last-owner.ts";
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

/**
 * Writes a change of a provisioned user, and adapts suspensions and sessions to it. `after` is undefined for a deletion. Throws LAST_OWNER
 * if the organization loses its last owner.
 */
export async function changeUser(
  tx: Transaction,
  before: ScimUserRow | undefined,
  after: ScimUserRow | undefined,
  write: () => Promise<void>,
): Promise<void> {
  const { providerUid } = (after ?? before)!;
  const [former, current] = [before?.identityUid ?? null, after?.identityUid ?? null];
  const isGone = former !== null && former !== current;
  const isInactive = current !== null && after?.isActive === false;
  const change = async () => {
    await write();
    // The provider has no person for this identity any more. The person loses access, if there is an identity that they can assume.
    if (isGone) {
      if (await hasIdentity(tx, before!, former)) await endAccess(tx, providerUid, former);
      else await deleteSuspension(tx, providerUid, former);
    }
    if (isInactive) await endAccess(tx, providerUid, current);
    else if (current !== null) await deleteSuspension(tx, providerUid, current);
  };
  if (isGone || isInactive) await keepOwner(tx, providerUid, change);
  else await change();
  tx.changeAccess();
}

/** Whether a person has registered, or an identity of the organization names the person. */
async function hasIdentity(tx: Transaction, { providerUid, externalId }: ScimUserRow, identityUid: string) {
  if (await rowExists(tx, identityCollection, identityUid)) return true;
  const provider = await findRow(tx, identityProviderCollection, providerUid);
  if (!provider || externalId === null || identityOf(provider, undefined, externalId) !== identityUid) return false;
  return await namesIdentity(tx, rootOf(providerUid), issuerSpellings(provider.issuer), externalId);
}

/** Runs a change that takes access away by a provider. Only of its own organization: others do not decide whom it deactivates. */
async function keepOwner(tx: Transaction, providerUid: string, change: () => Promise<void>): Promise<void> {
  await keepOwners(tx, [rootOf(providerUid)], change, { lost });
}

/**
 * Ends the access of an identity to the organization of a provider, and its sessions by the provider. Throws LAST_OWNER if the organization
 * loses its last owner.
 */
export async function suspend(tx: Transaction, providerUid: string, identityUid: string): Promise<void> {
  await keepOwner(tx, providerUid, () => endAccess(tx, providerUid, identityUid));
}

async function endAccess(tx: Transaction, providerUid: string, identityUid: string): Promise<void> {
  await insertSuspension(tx, providerUid, identityUid);
  for (const { id, signIn } of await listRefreshFamilies(tx, identityUid))
    if (signIn.provider === providerUid) await deleteRefreshFamily(tx, id);
}

/** Returns the error for a suspended owner. Suspended owners, and identities that name them, do not count as owners. */
function lost(groupUid: string) {
  return failedPrecondition(
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
    // Only bindings of this organization or of its identities end: another organization decides about its own.
    bindings.push(...held.filter(({ parent }) => [uid, parent].map(rootOf).includes(organization)));
  }
  return bindings;
}
