// Requests for access to a group stand in the change log, under a kind of their own with an index of its own.

import { limitOf } from "../engine/placeholders.ts";
import type { Session } from "../engine/session.ts";
import { isAccessRequest } from "../schema/access-requests.ts";
import { and, desc, eq, sql } from "../schema/drizzle.ts";

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
      .limit(limitOf(1)),
  );
  return (await statement.execute({ groupUid, identityUid }))[0]?.time;
}
