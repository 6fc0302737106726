// A change of an identity provider leaves no organization without an owner who can sign in (docs/decisions/0035).
import { failedPrecondition } from "../../../aip/errors.ts";
import { ownerRole } from "../../../authz/built-in-roles.ts";
import { callerOf } from "../../../pipeline/authorize.ts";
import type { Call } from "../../../pipeline/call.ts";
import type { Transaction } from "../../../storage/engine/session.ts";
import type { IdentityProviderRow } from "../../../storage/iam/provider-rows.ts";
import { findOrganizationsOfMembers } from "../../../storage/iam/providers.ts";
import { normalizeIssuer } from "../../../sts/claim-match.ts";
import { isEmptied } from "../groups/group-deletion.ts";
import { canSee, keepOwners, lastOwnerReason } from "../rules/last-owner.ts";

/** The maximum number of organizations whose owners sign in by a provider that changes: each must keep an owner. */
const maxOwned = 1_000;

/** Whether a change of a provider may change who its people are here: another client gets other subjects from some issuers. */
export function isReplaced(before: IdentityProviderRow, after: IdentityProviderRow): boolean {
  return normalizeIssuer(before.issuer) !== normalizeIssuer(after.issuer) || before.clientId !== after.clientId;
}

/** Throws LAST_OWNER if an organization loses its last owner because nobody can sign in by a provider any more. */
export async function refuseLastSignIn(tx: Transaction, provider: IdentityProviderRow, call: Call): Promise<void> {
  await keepSignIns(tx, provider, call, async () => {}, provider.uid);
}

/** Runs a change of who may sign in by a provider. Throws LAST_OWNER if an organization loses its last owner by it. */
export async function keepSignIns<T>(
  tx: Transaction,
  { uid, parent }: IdentityProviderRow,
  call: Call,
  change: () => Promise<T>,
  withoutProvider?: string,
): Promise<T> {
  const query = { providerUid: uid, roleUid: ownerRole.uid, limit: maxOwned + 1 };
  const owned = new Set(await findOrganizationsOfMembers(tx, query));
  if (owned.size > maxOwned)
    throw failedPrecondition(
      "TOO_MANY_BINDINGS",
      `people of the provider own more than ${maxOwned} organizations`,
      uid,
    );
  // An organization that ends with its owner binding is left to the deletion of the organization.
  if (withoutProvider && (await isEmptied(tx, parent, callerOf(call).uid))) owned.delete(parent);
  else owned.add(parent);
  const lost = (groupUid: string) => lastSignIn(uid, groupUid, call);
  // In one order for all changes: they lock the organizations.
  return await keepOwners(tx, [...owned].sort(), change, { lost, withoutProvider });
}

/** The error names an organization only to callers who can see it. */
function lastSignIn(providerUid: string, groupUid: string, call: Call) {
  if (canSee(call, groupUid))
    return failedPrecondition(
      lastOwnerReason,
      "the owners of the organization sign in by this identity provider only; bind an owner who signs in otherwise first",
      groupUid,
    );
  return failedPrecondition(
    lastOwnerReason,
    "the last owner of an organization that you cannot see signs in by this identity provider; an organization must keep an owner",
    providerUid,
  );
}
