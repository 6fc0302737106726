import { postgresColumns } from "./columns.ts";
import { defineTables } from "./tables.ts";

export const postgresTables = defineTables(postgresColumns);

// drizzle-kit looks for tables among the exports.
export const {
  groups,
  identities,
  roles,
  roleBindings,
  groupInvites,
  accountAssociations,
  groupEntries,
  identityEntries,
  roleEntries,
  roleBindingEntries,
  groupInviteEntries,
  accountAssociationEntries,
  counters,
  changes,
  signingKeys,
  settings,
} = postgresTables;
