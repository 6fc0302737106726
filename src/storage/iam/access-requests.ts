// Requests for access to a group. They are change log entries of their own kind, with an index.

import { limitOf } from "../engine/placeholders.ts";
import type { Session } from "../engine/session.ts";
import { isAccessRequest } from "../schema/access-requests.ts";
import { and, desc, eq, sql } from "../schema/drizzle.ts";

/** Returns when the identity last requested access to the group, or undefined. */
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
      .limit(limitOf(1)),
  );
  return (await statement.execute({ groupUid, identityUid }))[0]?.time;
}
