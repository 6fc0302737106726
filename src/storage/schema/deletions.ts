import type { SQL, SQLWrapper } from "drizzle-orm";
import { sql } from "./drizzle.ts";

/**
 * Returns a condition for changes without a row after them: deletions. A JSON column has NULL or the text `null`, by the way in which the
 * row was written. The index of deletions has the same text, or the databases do not use it.
 */
export function isDeletion(after: SQLWrapper): SQL {
  return sql`coalesce(cast(${after} as text), 'null') = 'null'`;
}
