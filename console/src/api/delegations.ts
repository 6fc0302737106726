// Who may confirm a delegation: a promise of access that stays in force while the identity that made it holds what it gives.
import type { WhoAmI } from "../../../gen/chainguard/platform/auth/v1/auth_pb.ts";
import { DelegationKind, DelegationsService } from "../../../gen/gatehouse/iam/v1/delegations_pb.ts";
import { holdsAt, missingFor } from "./access.ts";

/** The capabilities that confirming a delegation requires, besides role_bindings.list and what it gives (docs/decisions/0035). */
const capabilityToConfirm: Readonly<Partial<Record<DelegationKind, string>>> = {
  [DelegationKind.GROUP_INVITE]: "group_invites.create",
  [DelegationKind.SUBSCRIPTION]: "subscriptions.create",
  [DelegationKind.DEFAULT_ROLE]: "identity_providers.update",
  [DelegationKind.SCIM_TOKEN]: "identity_providers.update",
  [DelegationKind.EXTERNAL_GROUP_ROLE_MAPPING]: "identity_providers.create",
  [DelegationKind.STATIC_KEYS]: "identity.update",
  [DelegationKind.ACCESS_REQUEST_RULE]: "role_bindings.create",
  [DelegationKind.ACCESS_REVIEW]: "role_bindings.delete",
};

/** Returns the capabilities that the caller lacks to confirm a delegation. */
export function missingToConfirm(me: WhoAmI | undefined, kind: DelegationKind, uid: string): readonly string[] {
  const needed = capabilityToConfirm[kind];
  const missing = missingFor(me, DelegationsService.method.confirmDelegation, uid);
  return needed === undefined || holdsAt(me, needed, uid) ? missing : [...missing, needed];
}
