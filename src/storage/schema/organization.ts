import type { SQL, SQLWrapper } from "drizzle-orm";
import { sql } from "./drizzle.ts";

/** The length of the uid of an organization. */
const rootLength = 40;

/**
 * Returns an expression for the organization of a uid. Indexes and conditions must have the same text, or the databases
 * do not use the index.
 */
export function organizationOf(uid: SQLWrapper): SQL {
  return sql`substr(${uid}, 1, ${sql.raw(String(rootLength))})`;
}
