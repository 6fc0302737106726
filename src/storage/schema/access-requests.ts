import type { SQL, SQLWrapper } from "drizzle-orm";
import { sql } from "./drizzle.ts";

/** What a request for access to a group is called. */
export const accessRequests = "group_access_requests";

/** Whether a kind is theirs. A placeholder instead of the text would keep the databases from using their index. */
export function isAccessRequest(kind: SQLWrapper): SQL {
  return sql`${kind} = ${sql.raw(`'${accessRequests}'`)}`;
}
