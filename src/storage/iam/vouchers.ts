// Keeps delegations: the identity that writes a row which grants access to others later is its maker, and vouches for
// it. The collections call this with every write, because no code path may forget it (docs/decisions/0035).
import { isDeepStrictEqual } from "node:util";
import { Capability } from "../../../gen/chainguard/capabilities/capabilities_pb.ts";
import type { Transaction } from "../engine/session.ts";
import { type DelegationKind, findRoleCapabilities, forgetVouchers, vouch } from "./delegations.ts";
import { deleteFoundingBinding, deleteFoundingBindingsOf } from "./founding-bindings.ts";
import { maxMappings } from "./limits.ts";
import type { ExternalGroupRoleMappingRow, IdentityProviderRow } from "./provider-rows.ts";
import { findMappingsOf } from "./providers.ts";
import type { GroupInviteRow, IdentityRow, RoleBindingRow } from "./rows.ts";

/** The capabilities needed to create a subscription, and so to receive events. */
export const subscriptionCapabilities: readonly number[] = [Capability.CAP_EVENTS_SUBSCRIPTION_CREATE];

/** Keeps the delegation of an invite: its maker is the identity that created it or changed it last. */
export async function keepInviteVoucher(tx: Transaction, before?: GroupInviteRow, after?: GroupInviteRow) {
  if (after) await vouchForRole(tx, "group_invites", after.uid, after.roleUid);
  else await forgetVouchers(tx, before!.uid);
}

/** Keeps the delegation of a subscription. */
export async function keepSubscriptionVoucher(tx: Transaction, before?: { uid: string }, after?: { uid: string }) {
  if (after) await vouch(tx, "subscriptions", after.uid, subscriptionCapabilities);
  else await forgetVouchers(tx, before!.uid);
}

/** Keeps the delegation of an external group mapping. */
export async function keepMappingVoucher(
  tx: Transaction,
  before?: ExternalGroupRoleMappingRow,
  after?: ExternalGroupRoleMappingRow,
) {
  if (after) await vouchForRole(tx, "external_group_role_mappings", after.uid, after.roleUid);
  else await forgetVouchers(tx, before!.uid);
}

/**
 * Keeps the delegations of an identity provider: for its default role and its SCIM token. The identity that chooses the
 * issuer decides who gets the mapped roles, and vouches for the mappings too.
 */
export async function keepProviderVouchers(tx: Transaction, before?: IdentityProviderRow, after?: IdentityProviderRow) {
  if (!after) return await forgetVouchers(tx, before!.uid);
  const { uid, defaultRole } = after;
  if (!before || !isDeepStrictEqual(ownColumns(before), ownColumns(after)))
    await vouchForRole(tx, "identity_providers", uid, defaultRole);
  if (before?.scimTokenDigest !== after.scimTokenDigest) {
    if (after.scimTokenDigest !== null) await vouchForRole(tx, "scim_tokens", uid, defaultRole);
    else await forgetVouchers(tx, uid, "scim_tokens");
  }
  if (!before || believesTheSame(before, after)) return;
  for (const mapping of await findMappingsOf(tx, uid, maxMappings)) await keepMappingVoucher(tx, undefined, mapping);
  tx.changeAccess();
}

/** Returns whether two states of a provider trust the same claims for group membership. */
export function believesTheSame(before: IdentityProviderRow, after: IdentityProviderRow): boolean {
  return (["issuer", "clientId", "groupsClaim"] as const).every((column) => before[column] === after[column]);
}

/**
 * Keeps the delegation of static keys: the identity that chose them may know them. An identity that changes its own
 * keys does not become its own maker.
 */
async function keepKeysVoucher(tx: Transaction, before?: IdentityRow, after?: IdentityRow) {
  const hadKeys = before !== undefined && hasStaticKeys(before);
  if (!after || !hasStaticKeys(after)) {
    if (!hadKeys) return;
    await forgetVouchers(tx, before.uid);
    // Without static keys, the capabilities of their makers no longer limit the identity.
    return tx.changeAccess();
  }
  if (hadKeys && isDeepStrictEqual(before.relationship, after.relationship)) return;
  if (hadKeys && tx.context.actor === after.uid) return;
  await vouch(tx, "identities", after.uid, []);
  if (before) tx.changeAccess();
}

/** Keeps what an identity may do without the authority of others: it ends when another identity chooses who may assume it. */
export async function keepIdentityAuthority(tx: Transaction, before?: IdentityRow, after?: IdentityRow) {
  await keepKeysVoucher(tx, before, after);
  const { actor } = tx.context;
  if (!before || !after || actor === "" || actor === after.uid) return;
  if (isDeepStrictEqual(before.relationship, after.relationship)) return;
  await deleteFoundingBindingsOf(tx, after.uid);
  tx.changeAccess();
}

/** A changed role binding is not the one that its identity got by creating the organization. */
export async function keepFoundingBinding(tx: Transaction, before?: RoleBindingRow, after?: RoleBindingRow) {
  const columns = ["identityUid", "roleUid", "startTime", "expireTime"] as const;
  if (!before || !after || columns.every((column) => before[column] === after[column])) return;
  await deleteFoundingBinding(tx, after.uid);
}

/** Returns whether an identity is assumed with keys of its own. */
export function hasStaticKeys({ relationship }: Pick<IdentityRow, "relationship">): boolean {
  return relationship.case === "staticKeys";
}

async function vouchForRole(tx: Transaction, kind: DelegationKind, uid: string, roleUid: string): Promise<void> {
  await vouch(tx, kind, uid, await findRoleCapabilities(tx, roleUid));
}

/** Returns the columns that a request can set. */
function ownColumns(row: IdentityProviderRow) {
  const { updateTime: _, ...columns } = row;
  return Object.fromEntries(Object.entries(columns).filter(([name]) => !name.startsWith("scim")));
}
