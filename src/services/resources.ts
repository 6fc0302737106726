// The kinds of resources, in the order in which they are created: each comes after those that it refers to.
import { subscriptionKind } from "./events/subscriptions/kind.ts";
import { accountAssociationKind } from "./iam/account-associations/kind.ts";
import { externalGroupRoleMappingKind } from "./iam/external-group-role-mappings/kind.ts";
import { groupKind, organizationKind } from "./iam/groups/kind.ts";
import { identityKind } from "./iam/identities/kind.ts";
import { identityProviderKind } from "./iam/identity-providers/kind.ts";
import { groupInviteKind } from "./iam/invites/kind.ts";
import { roleBindingKind } from "./iam/role-bindings/kind.ts";
import { roleKind } from "./iam/roles/kind.ts";
import type { DeletedKind, Kind } from "./kinds/kind.ts";
import { repoKind } from "./registry/repos/kind.ts";

/** The kinds that a file for apply may have. */
export const resources: readonly Kind[] = [
  organizationKind,
  groupKind,
  roleKind,
  identityKind,
  identityProviderKind,
  externalGroupRoleMappingKind,
  accountAssociationKind,
  repoKind,
  roleBindingKind,
  subscriptionKind,
];

/** The kinds that no file has, and that are deleted with their group. */
export const deletedOnly: readonly DeletedKind[] = [groupInviteKind];
