import type { AnyPgColumn } from "drizzle-orm/pg-core";
import type { Columns } from "../columns.postgres.ts";

/**
 * Defines the tables of SCIM clients (docs/design/sign-in.md): users, groups and their members, each of one identity provider. Long, because
 * it only declares.
 */
export function defineProvisioningTables(columns: Columns, providerUid: () => AnyPgColumn) {
  const { table, text, integer, boolean, json, index, uniqueIndex, primaryKey } = columns;

  const scimUsers = table(
    "scim_users",
    {
      /** Below the uid of the provider. Its last segment is the `id` of SCIM. */
      uid: text().primaryKey(),
      providerUid: text().notNull().references(providerUid, { onDelete: "cascade" }),
      /** In lower case, like all keys here: RFC 7643 §4.1.1 compares user names without case. */
      userNameKey: text().notNull(),
      displayNameKey: text().notNull(),
      /** Null if the client sent none. */
      externalId: text(),
      isActive: boolean().notNull(),
      /** The uid of the user identity that signs in as this person; null if it is not known yet. */
      identityUid: text(),
      /** When the person first signed in by the provider; null before. Groups give no roles until then. */
      signInTime: integer(),
      /** The attributes of the resource, without `id`, `meta` and `schemas`. */
      attributes: json<Readonly<Record<string, unknown>>>().notNull(),
      version: integer().notNull(),
      createTime: integer().notNull(),
      updateTime: integer().notNull(),
    },
    (t) => [
      uniqueIndex("scim_users_user_name").on(t.providerUid, t.userNameKey),
      uniqueIndex("scim_users_external_id").on(t.providerUid, t.externalId),
      index("scim_users_display_name").on(t.providerUid, t.displayNameKey, t.uid),
      index("scim_users_identity").on(t.identityUid),
    ],
  );

  const scimGroups = table(
    "scim_groups",
    {
      /** Below the uid of the provider. Its last segment is the `id` of SCIM. */
      uid: text().primaryKey(),
      providerUid: text().notNull().references(providerUid, { onDelete: "cascade" }),
      displayName: text().notNull(),
      displayNameKey: text().notNull(),
      externalId: text(),
      version: integer().notNull(),
      createTime: integer().notNull(),
      updateTime: integer().notNull(),
    },
    (t) => [
      uniqueIndex("scim_groups_external_id").on(t.providerUid, t.externalId),
      index("scim_groups_display_name").on(t.providerUid, t.displayNameKey, t.uid),
    ],
  );

  return {
    scimUsers,
    scimGroups,

    scimMembers: table(
      "scim_members",
      {
        groupUid: text()
          .notNull()
          .references(() => scimGroups.uid, { onDelete: "cascade" }),
        userUid: text()
          .notNull()
          .references(() => scimUsers.uid, { onDelete: "cascade" }),
      },
      (t) => [primaryKey({ columns: [t.groupUid, t.userUid] }), index("scim_members_user").on(t.userUid)],
    ),

    /** User identities without access to an organization, because a provider deactivated or deleted the person. */
    scimSuspensions: table(
      "scim_suspensions",
      {
        identityUid: text().notNull(),
        providerUid: text().notNull().references(providerUid, { onDelete: "cascade" }),
        createTime: integer().notNull(),
      },
      (t) => [
        primaryKey({ columns: [t.identityUid, t.providerUid] }),
        index("scim_suspensions_provider").on(t.providerUid),
      ],
    ),
  };
}
