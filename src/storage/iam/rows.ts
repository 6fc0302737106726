// The rows of the IAM resources and how they are stored.
import type { Collection, ResourceRow } from "../collection/collection.ts";
import type { StoredRelationship } from "../schema/tables/iam.ts";
import {
  externalGroupRoleMappingCollection,
  identityProviderCollection,
  termsAcceptanceCollection,
} from "./provider-rows.ts";
import { keepInviteVoucher, keepKeysVoucher } from "./vouchers.ts";

/** A group as it is stored. */
export interface GroupRow extends ResourceRow {
  readonly name: string;
  readonly description: string;
  readonly resourceLimits: Record<string, number>;
  readonly verified: boolean;
  readonly kind: number;
  readonly status: number;
  readonly updateTime: number;
}

export const groupCollection: Collection<GroupRow> = {
  kind: "groups",
  rows: (tables) => tables.groups,
  entries: (tables) => tables.groupEntries,
  changesAccess: [],
};

/** An identity as it is stored. */
export interface IdentityRow extends ResourceRow {
  readonly name: string;
  readonly description: string;
  readonly email: string;
  readonly emailUnverified: string;
  readonly company: string;
  readonly relationshipType: number;
  readonly relationship: StoredRelationship;
  readonly issuer: string;
  readonly subject: string;
  readonly metadata: Record<string, unknown>;
  readonly lastSeenTime: number;
  readonly updateTime: number;
}

export const identityCollection: Collection<IdentityRow> = {
  kind: "identities",
  rows: (tables) => tables.identities,
  entries: (tables) => tables.identityEntries,
  isTouched: true,
  changesAccess: ["delete"],
  keepBeside: keepKeysVoucher,
};

/** A role as it is stored. */
export interface RoleRow extends ResourceRow {
  readonly name: string;
  readonly description: string;
  readonly capabilities: number[];
  readonly updateTime: number;
}

export const roleCollection: Collection<RoleRow> = {
  kind: "roles",
  rows: (tables) => tables.roles,
  entries: (tables) => tables.roleEntries,
  changesAccess: ["update"],
};

/** A role binding as it is stored. */
export interface RoleBindingRow extends ResourceRow {
  readonly parent: string;
  readonly identityUid: string;
  readonly roleUid: string;
}

export const roleBindingCollection: Collection<RoleBindingRow> = {
  kind: "role_bindings",
  rows: (tables) => tables.roleBindings,
  entries: (tables) => tables.roleBindingEntries,
  changesAccess: ["insert", "update", "delete"],
};

/** A group invite as it is stored. */
export interface GroupInviteRow extends ResourceRow {
  readonly parent: string;
  readonly roleUid: string;
  readonly recipient: string;
  readonly expirationTime: number;
  readonly singleUse: boolean;
  readonly keyId: string;
  readonly codeDigest: string;
}

export const groupInviteCollection: Collection<GroupInviteRow> = {
  kind: "group_invites",
  rows: (tables) => tables.groupInvites,
  entries: (tables) => tables.groupInviteEntries,
  changesAccess: [],
  secret: ["codeDigest"],
  keepBeside: keepInviteVoucher,
};

/** An account association as it is stored. */
export interface AccountAssociationRow extends ResourceRow {
  readonly name: string;
  readonly description: string;
  readonly accounts: Record<string, unknown>;
  readonly updateTime: number;
}

export const accountAssociationCollection: Collection<AccountAssociationRow> = {
  kind: "account_associations",
  rows: (tables) => tables.accountAssociations,
  entries: (tables) => tables.accountAssociationEntries,
  sharesUid: true,
  changesAccess: [],
};

/** Every collection, for what concerns them all. */
export const iamCollections = [
  groupCollection,
  identityCollection,
  roleCollection,
  roleBindingCollection,
  groupInviteCollection,
  accountAssociationCollection,
  identityProviderCollection,
  externalGroupRoleMappingCollection,
  termsAcceptanceCollection,
] as const;
