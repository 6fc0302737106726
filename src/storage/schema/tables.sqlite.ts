import type { SessionDialect } from "../engine/session.ts";
import { sqliteColumns } from "./columns.sqlite.ts";
import { sql } from "./drizzle.ts";
import { defineTables } from "./tables.ts";

/** All tables, for SQLite. */
export const sqliteTables = defineTables(sqliteColumns);

/** What a session needs to know of the database. */
export const sqliteDialect: SessionDialect = {
  tables: sqliteTables,
  textsOf: (list) => sql`json_each(${list})`,
  membersOf: (object) => sql`json_each(${object})`,
  isAmong: (value, list) => sql`${value} in (select value from json_each(${list}))`,
};

// drizzle-kit looks for tables among the exports.
export const {
  groups,
  identities,
  roles,
  roleBindings,
  groupInvites,
  accountAssociations,
  delegations,
  groupEntries,
  identityEntries,
  roleEntries,
  roleBindingEntries,
  repos,
  repoEntries,
  tags,
  tagEntries,
  tagHistory,
  readmes,
  manifests,
  registryEvents,
  advisories,
  advisoryEntries,
  advisoryEvents,
  advisoryRecords,
  advisoryRecordLinks,
  completeDocuments,
  advisoryTerms,
  advisoryTexts,
  deletedAdvisories,
  exportStates,
  subscriptions,
  subscriptionEntries,
  events,
  eventDeliveries,
  eventQueues,
  groupInviteEntries,
  accountAssociationEntries,
  signIns,
  headlessSessions,
  refreshFamilies,
  providerMembers,
  memberships,
  identityProviders,
  identityProviderEntries,
  externalGroupRoleMappings,
  externalGroupRoleMappingEntries,
  termsAcceptances,
  termsAcceptanceEntries,
  counters,
  changes,
  signingKeys,
  settings,
} = sqliteTables;
