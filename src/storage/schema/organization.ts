import type { SQL, SQLWrapper } from "drizzle-orm";
import { sql } from "./drizzle.ts";

/** How long the uid of an organization is. */
const rootLength = 40;

/** The organization that a column of uids names. Indexes and conditions need the same text, or the databases do not use them. */
export function organizationOf(uid: SQLWrapper): SQL {
  return sql`substr(${uid}, 1, ${sql.raw(String(rootLength))})`;
}
