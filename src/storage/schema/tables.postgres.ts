import type { SessionDialect } from "../engine/session.ts";
import { postgresColumns } from "./columns.postgres.ts";
import { sql } from "./drizzle.ts";
import { defineTables } from "./tables.ts";

/** All tables, for PostgreSQL. */
export const postgresTables = defineTables(postgresColumns);

/** What a session needs to know of the database. */
export const postgresDialect: SessionDialect = {
  tables: postgresTables,
  textsOf: (list) => sql`json_array_elements_text(cast(${list} as json))`,
  membersOf: (object) => sql`json_each_text(cast(${object} as json))`,
  // Of a subquery in its place PostgreSQL expects more rows, and may read a whole subtree to compare it with them.
  isAmong: (value, list) => sql`${value} = any(array(select json_array_elements_text(cast(${list} as json))))`,
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
} = postgresTables;
