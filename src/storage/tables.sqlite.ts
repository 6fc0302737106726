import { sqliteColumns } from "./columns.sqlite.ts";
import { defineTables } from "./tables.ts";

export const sqliteTables = defineTables(sqliteColumns);

// drizzle-kit looks for tables among the exports.
export const {
  groups,
  identities,
  roles,
  roleBindings,
  groupEntries,
  identityEntries,
  roleEntries,
  roleBindingEntries,
  counters,
  changes,
  signingKeys,
  settings,
} = sqliteTables;
