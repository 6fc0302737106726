import { sqliteColumns } from "./columns.ts";
import { defineTables } from "./tables.ts";

export const sqliteTables = defineTables(sqliteColumns);

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
} = sqliteTables;
