import type { AnyPgColumn } from "drizzle-orm/pg-core";
import type { Columns } from "../columns.postgres.ts";
import { entriesTable } from "./entries.ts";

/** Identity providers, their external group mappings, and accepted terms. Long, because it only declares. */
export function defineProviderTables(columns: Columns, groupUid: () => AnyPgColumn, roleUid: () => AnyPgColumn) {
  const { table, text, integer, boolean, json, index, uniqueIndex } = columns;
  const entries = entriesTable(columns);

  const identityProviders = table(
    "identity_providers",
    {
      uid: text().primaryKey(),
      parent: text().notNull().references(groupUid),
      name: text().notNull(),
      description: text().notNull(),
      defaultRole: text().notNull().references(roleUid),
      issuer: text().notNull(),
      clientId: text().notNull(),
      /** Encrypted; null if there is none. */
      clientSecret: text(),
      additionalScopes: json<string[]>().notNull(),
      groupsClaim: text().notNull(),
      correlationRule: integer().notNull(),
      pkceEnabled: boolean().notNull(),
      scimEnabled: boolean().notNull(),
      scimEtag: text().notNull(),
      /** SHA-256 of the token in hexadecimal; null if there is none. */
      scimTokenDigest: text(),
      /** Null for a token that never expires. */
      scimExpireTime: integer(),
      /** The digest of the replaced token, while it is accepted. */
      scimPreviousDigest: text(),
      scimPreviousExpireTime: integer(),
      scimRevokeTime: integer(),
      createTime: integer().notNull(),
      updateTime: integer().notNull(),
    },
    (t) => [
      index("identity_providers_parent").on(t.parent, t.uid),
      index("identity_providers_issuer").on(t.issuer),
      index("identity_providers_default_role").on(t.defaultRole, t.uid),
    ],
  );

  return {
    identityProviders,
    identityProviderEntries: entries("identity_provider_entries"),

    externalGroupRoleMappings: table(
      "external_group_role_mappings",
      {
        uid: text().primaryKey(),
        /** The uid of the identity provider. */
        parent: text()
          .notNull()
          .references(() => identityProviders.uid),
        externalGroupId: text().notNull(),
        roleUid: text().notNull().references(roleUid),
        scope: text().notNull().references(groupUid),
        createTime: integer().notNull(),
      },
      (t) => [
        // Unique columns, by which a sign-in reads the mappings of its groups.
        uniqueIndex("external_group_role_mappings_once").on(t.parent, t.externalGroupId, t.roleUid, t.scope),
        index("external_group_role_mappings_parent").on(t.parent, t.uid),
        index("external_group_role_mappings_role").on(t.roleUid, t.uid),
        index("external_group_role_mappings_scope").on(t.scope, t.uid),
      ],
    ),
    externalGroupRoleMappingEntries: entries("external_group_role_mapping_entries"),

    termsAcceptances: table(
      "terms_acceptances",
      {
        /** Derived from the group and the document: a group accepts a document once. */
        uid: text().primaryKey(),
        parent: text().notNull().references(groupUid),
        /** The id of the document. */
        name: text().notNull(),
        acceptedBy: text().notNull(),
        createTime: integer().notNull(),
      },
      (t) => [index("terms_acceptances_parent").on(t.parent, t.uid)],
    ),
    termsAcceptanceEntries: entries("terms_acceptance_entries"),
  };
}
