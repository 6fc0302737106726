import { postgresColumns } from "./columns.postgres.ts";
import { defineTables } from "./tables.ts";

export const postgresTables = defineTables(postgresColumns);

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
} = postgresTables;
