import type { Trust } from "../../../model/trust.ts";
import type { Columns } from "../columns.postgres.ts";
import { isNotNull, sql } from "../drizzle.ts";
import { entriesTable, lastSegment } from "./entries.ts";

/** The relationship of an identity as it is stored: the name of the oneof member and its protobuf JSON. */
export interface StoredRelationship {
  readonly case: string;
  readonly value: unknown;
}

/**
 * Groups, identities, roles and role bindings, and invites, account associations and delegations.
 * Long, because it only declares.
 */
export function defineIamTables(columns: Columns) {
  const { table, text, integer, boolean, json, foreignKey, index, uniqueIndex, primaryKey } = columns;
  const entries = entriesTable(columns);

  const groups = table(
    "groups",
    {
      uid: text().primaryKey(),
      parent: text(),
      name: text().notNull(),
      description: text().notNull(),
      resourceLimits: json<Record<string, number>>().notNull(),
      verified: boolean().notNull(),
      kind: integer().notNull(),
      status: integer().notNull(),
      createTime: integer().notNull(),
      updateTime: integer().notNull(),
    },
    (t) => [
      foreignKey({ columns: [t.parent], foreignColumns: [t.uid] }),
      index("groups_parent").on(t.parent, t.uid),
      // An index names columns without their table.
      index("groups_last_segment").on(lastSegment(sql.identifier("uid"))),
    ],
  );

  const identities = table(
    "identities",
    {
      uid: text().primaryKey(),
      parent: text().references(() => groups.uid),
      name: text().notNull(),
      description: text().notNull(),
      email: text().notNull(),
      emailUnverified: text().notNull(),
      company: text().notNull(),
      relationshipType: integer().notNull(),
      relationship: json<StoredRelationship>().notNull(),
      /** The exact issuer and subject of a claim match or of static keys; empty if there is none. */
      issuer: text().notNull(),
      subject: text().notNull(),
      metadata: json<Record<string, unknown>>().notNull(),
      lastSeenTime: integer().notNull(),
      createTime: integer().notNull(),
      updateTime: integer().notNull(),
      /** Pins and refused names; null if there are none. */
      trust: json<Trust>(),
    },
    (t) => [
      index("identities_parent").on(t.parent, t.uid),
      index("identities_issuer_subject").on(t.issuer, t.subject, t.uid),
      index("identities_relationship_type").on(t.relationshipType, t.uid),
    ],
  );

  const roles = table(
    "roles",
    {
      uid: text().primaryKey(),
      /** Null for built-in roles. */
      parent: text().references(() => groups.uid),
      name: text().notNull(),
      description: text().notNull(),
      /** Numbers of the Capability enum. */
      capabilities: json<number[]>().notNull(),
      createTime: integer().notNull(),
      updateTime: integer().notNull(),
    },
    (t) => [index("roles_parent").on(t.parent, t.uid)],
  );

  const roleBindings = table(
    "role_bindings",
    {
      uid: text().primaryKey(),
      parent: text()
        .notNull()
        .references(() => groups.uid),
      identityUid: text()
        .notNull()
        .references(() => identities.uid),
      roleUid: text()
        .notNull()
        .references(() => roles.uid),
      createTime: integer().notNull(),
      // The term: from the start, inclusive, to the end, exclusive.
      startTime: integer(),
      expireTime: integer(),
    },
    (t) => [
      // An identity has a role at a group at most once.
      uniqueIndex("role_bindings_once").on(t.parent, t.roleUid, t.identityUid),
      index("role_bindings_parent").on(t.parent, t.uid),
      index("role_bindings_identity").on(t.identityUid, t.uid),
      index("role_bindings_role").on(t.roleUid, t.uid),
      index("role_bindings_parent_role").on(t.parent, t.roleUid, t.uid),
      index("role_bindings_expire").on(t.expireTime).where(isNotNull(t.expireTime)),
    ],
  );

  /**
   * The owner bindings that identities got by creating an organization. They need the authority of no other identity
   * (docs/decisions/0035).
   */
  const foundingBindings = table("founding_bindings", {
    uid: text()
      .primaryKey()
      .references(() => roleBindings.uid, { onDelete: "cascade" }),
  });

  const groupInvites = table(
    "group_invites",
    {
      uid: text().primaryKey(),
      parent: text()
        .notNull()
        .references(() => groups.uid),
      /** The role may be deleted; the invite then grants nothing. */
      roleUid: text().notNull(),
      /** The invited e-mail address; empty for anyone. */
      recipient: text().notNull(),
      expirationTime: integer().notNull(),
      singleUse: boolean().notNull(),
      keyId: text().notNull(),
      /** SHA-256 of the code, in hexadecimal digits. */
      codeDigest: text().notNull(),
      createTime: integer().notNull(),
    },
    (t) => [
      index("group_invites_parent").on(t.parent, t.uid),
      index("group_invites_role").on(t.roleUid, t.uid),
      index("group_invites_parent_role").on(t.parent, t.roleUid, t.uid),
      uniqueIndex("group_invites_key_id").on(t.keyId),
    ],
  );

  const accountAssociations = table(
    "account_associations",
    {
      /** The uid of the group. */
      uid: text()
        .primaryKey()
        .references(() => groups.uid),
      /** The uid of the parent group; null for an organization. */
      parent: text(),
      name: text().notNull(),
      description: text().notNull(),
      /** The accounts as protobuf JSON. */
      accounts: json<Record<string, unknown>>().notNull(),
      createTime: integer().notNull(),
      updateTime: integer().notNull(),
    },
    (t) => [index("account_associations_parent").on(t.parent, t.uid)],
  );

  /** Delegations: who vouches for a row that grants access to others later. */
  const delegations = table(
    "delegations",
    {
      /** The uid of the row that grants access, such as an invite. */
      uid: text().notNull(),
      kind: text().notNull(),
      /** Null if the maker is unknown, or was deleted: a new identity with the same uid is a different one. */
      makerUid: text().references(() => identities.uid, { onDelete: "set null" }),
      /** Whether the installation itself vouches. */
      isInstallation: boolean().notNull(),
      /** The delegated capabilities: numbers of the Capability enum. */
      capabilities: json<number[]>().notNull(),
      /** The external group mappings of the maker's session. */
      mappings: json<string[]>().notNull(),
      /** When the maker vouched; 0 if unknown. */
      time: integer().notNull(),
    },
    (t) => [primaryKey({ columns: [t.uid, t.kind] }), index("delegations_maker").on(t.makerUid)],
  );

  return {
    groups,
    identities,
    roles,
    roleBindings,
    foundingBindings,
    groupInvites,
    accountAssociations,
    delegations,
    groupEntries: entries("group_entries"),
    identityEntries: entries("identity_entries"),
    roleEntries: entries("role_entries"),
    roleBindingEntries: entries("role_binding_entries"),
    groupInviteEntries: entries("group_invite_entries"),
    accountAssociationEntries: entries("account_association_entries"),
  };
}
