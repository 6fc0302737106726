import type { SQL, SQLWrapper } from "drizzle-orm";
import { sql } from "./drizzle.ts";

/** The kind of change log entries that request access to a group. */
export const accessRequests = "group_access_requests";

/**
 * Returns a condition for that kind. It contains the text, because with a placeholder the databases do not use the
 * partial index.
 */
export function isAccessRequest(kind: SQLWrapper): SQL {
  return sql`${kind} = ${sql.raw(`'${accessRequests}'`)}`;
}
