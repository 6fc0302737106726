// Collections of the IAM resources: their tables, indexes and change-log rules.
import type { Collection } from "../collection/collection.ts";
import type { ExternalGroupRoleMappingRow, IdentityProviderRow, TermsAcceptanceRow } from "./provider-rows.ts";
import { cancelRequestsOf, endRequestsOf } from "./requests/collections.ts";
import type { AccountAssociationRow, GroupInviteRow, GroupRow, IdentityRow, RoleBindingRow, RoleRow } from "./rows.ts";
import { scimCounters } from "./scim-counters.ts";
import {
  keepFoundingBinding,
  keepIdentityAuthority,
  keepInviteVoucher,
  keepMappingVoucher,
  keepProviderVouchers,
} from "./vouchers.ts";

export const groupCollection: Collection<GroupRow> = {
  kind: "groups",
  rows: (tables) => tables.groups,
  entries: (tables) => tables.groupEntries,
  changesAccess: [],
};

export const identityCollection: Collection<IdentityRow> = {
  kind: "identities",
  rows: (tables) => tables.identities,
  entries: (tables) => tables.identityEntries,
  unloggedColumns: ["lastSeenTime"],
  // Changes of pins have entries of their own.
  internal: ["trust"],
  changesAccess: ["delete"],
  async syncDependents(tx, before, after) {
    await keepIdentityAuthority(tx, before, after);
    if (before && !after) await cancelRequestsOf(tx, before.uid);
  },
};

export const roleCollection: Collection<RoleRow> = {
  kind: "roles",
  rows: (tables) => tables.roles,
  entries: (tables) => tables.roleEntries,
  changesAccess: ["update"],
};

export const roleBindingCollection: Collection<RoleBindingRow> = {
  kind: "role_bindings",
  rows: (tables) => tables.roleBindings,
  entries: (tables) => tables.roleBindingEntries,
  changesAccess: ["insert", "update", "delete"],
  // An identity is shown only if it has accepted the organization, and that is not logged.
  showsUnlogged: true,
  async syncDependents(tx, before, after) {
    await keepFoundingBinding(tx, before, after);
    if (before && !after) await endRequestsOf(tx, before.uid);
  },
};

export const groupInviteCollection: Collection<GroupInviteRow> = {
  kind: "group_invites",
  rows: (tables) => tables.groupInvites,
  entries: (tables) => tables.groupInviteEntries,
  changesAccess: [],
  secret: ["codeDigest"],
  syncDependents: keepInviteVoucher,
};

export const accountAssociationCollection: Collection<AccountAssociationRow> = {
  kind: "account_associations",
  rows: (tables) => tables.accountAssociations,
  entries: (tables) => tables.accountAssociationEntries,
  sharesUid: true,
  changesAccess: [],
};

export const identityProviderCollection: Collection<IdentityProviderRow> = {
  kind: "identity_providers",
  rows: (tables) => tables.identityProviders,
  entries: (tables) => tables.identityProviderEntries,
  changesAccess: [],
  secret: ["clientSecret", "scimTokenDigest", "scimPreviousDigest"],
  syncDependents: keepProviderVouchers,
  derived: scimCounters,
};

export const externalGroupRoleMappingCollection: Collection<ExternalGroupRoleMappingRow> = {
  kind: "external_group_role_mappings",
  rows: (tables) => tables.externalGroupRoleMappings,
  entries: (tables) => tables.externalGroupRoleMappingEntries,
  // A new mapping gives a role to the members of provisioned groups at once. Other sessions use the mappings that existed when they
  // began.
  changesAccess: ["insert", "delete"],
  syncDependents: keepMappingVoucher,
};

export const termsAcceptanceCollection: Collection<TermsAcceptanceRow> = {
  kind: "terms_acceptances",
  rows: (tables) => tables.termsAcceptances,
  entries: (tables) => tables.termsAcceptanceEntries,
  changesAccess: [],
};
