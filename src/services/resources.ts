// The kinds of resources, in the order in which they are created: each comes after those that it refers to.
import { subscriptionImport } from "./events/subscriptions/import.ts";
import { subscriptionKind } from "./events/subscriptions/kind.ts";
import { accountAssociationImport } from "./iam/account-associations/import.ts";
import { accountAssociationKind } from "./iam/account-associations/kind.ts";
import { externalGroupRoleMappingImport } from "./iam/external-group-role-mappings/import.ts";
import { externalGroupRoleMappingKind } from "./iam/external-group-role-mappings/kind.ts";
import { groupImport } from "./iam/groups/import.ts";
import { groupKind, organizationKind } from "./iam/groups/kind.ts";
import { identityImport } from "./iam/identities/import.ts";
import { identityKind } from "./iam/identities/kind.ts";
import { identityProviderImport } from "./iam/identity-providers/import.ts";
import { identityProviderKind } from "./iam/identity-providers/kind.ts";
import { groupInviteKind } from "./iam/invites/kind.ts";
import { suspendedPeopleImport } from "./iam/provisioning/import.ts";
import { roleBindingImport } from "./iam/role-bindings/import.ts";
import { roleBindingKind } from "./iam/role-bindings/kind.ts";
import { roleImport } from "./iam/roles/import.ts";
import { roleKind } from "./iam/roles/kind.ts";
import type { Transfer } from "./kinds/import-kind.ts";
import type { DeletedKind, Kind } from "./kinds/kind.ts";
import { repoImport, repoReadmeImport } from "./registry/repos/import.ts";
import { repoKind } from "./registry/repos/kind.ts";
import { tagImport } from "./registry/tags/import.ts";

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

/** The resources that move with an organization, in the order of their import. */
export const transfers: readonly Transfer[] = [
  groupImport,
  roleImport,
  identityImport,
  identityProviderImport,
  externalGroupRoleMappingImport,
  accountAssociationImport,
  repoImport,
  repoReadmeImport,
  tagImport,
  roleBindingImport,
  subscriptionImport,
  suspendedPeopleImport,
];
