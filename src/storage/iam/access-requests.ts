// Requests for access to a group stand in the change log, under a kind of their own with an index of its own.
import type { SQL, SQLWrapper } from "drizzle-orm";
import { atMost } from "../engine/placeholders.ts";
import type { Session } from "../engine/session.ts";
import { and, desc, eq, sql } from "../schema/drizzle.ts";

/** What a request for access to a group is called. */
export const accessRequests = "group_access_requests";

/** Whether a kind is theirs. A placeholder instead of the text would keep the databases from using their index. */
export function isAccessRequest(kind: SQLWrapper): SQL {
  return sql`${kind} = ${sql.raw(`'${accessRequests}'`)}`;
}

/** When the identity last asked for access to the group; undefined when never. */
export async function findLatestAccessRequest(
  session: Session,
  groupUid: string,
  identityUid: string,
): Promise<number | undefined> {
  const statement = session.prepared("changes.latest_access_request", (db, { changes }) =>
    db
      .select({ time: changes.time })
      .from(changes)
      .where(
        and(
          isAccessRequest(changes.kind),
          eq(changes.uid, sql.placeholder("groupUid")),
          eq(changes.actor, sql.placeholder("identityUid")),
        ),
      )
      .orderBy(desc(changes.sequence))
      .limit(atMost(1)),
  );
  return (await statement.execute({ groupUid, identityUid }))[0]?.time;
}
