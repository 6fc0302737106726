// Reads deleted and withdrawn advisories, for clients that follow changes.

import { limitOf, numberPlaceholder, textPlaceholder } from "../engine/placeholders.ts";
import type { Session } from "../engine/session.ts";
import { and, asc, eq, sql } from "../schema/drizzle.ts";
import { organizationOf } from "../schema/organization.ts";
import type { DeletedAdvisoryRow } from "./advisories.ts";

/** The deletion of an advisory, and when it was stored. */
export interface Deletion {
  readonly time: number;
  readonly uid: string;
}

/** Returns the deletions in an organization after one of them, in the order in which they were stored. */
export async function readDeletions(
  session: Session,
  organization: string,
  behind: Deletion,
  limit: number,
): Promise<Deletion[]> {
  const statement = session.prepared("deleted_advisories.since", (db, { deletedAdvisories: deleted }) =>
    db
      .select({ time: deleted.changeTime, uid: deleted.uid })
      .from(deleted)
      .where(
        and(
          eq(organizationOf(deleted.parent), sql.placeholder("organization")),
          sql`(${deleted.changeTime}, ${deleted.uid}) > (${numberPlaceholder("time")}, ${textPlaceholder("uid")})`,
        ),
      )
      .orderBy(asc(deleted.changeTime), asc(deleted.uid))
      .limit(limitOf("limit")),
  );
  return await statement.execute({ organization, limit, ...behind });
}

/** Returns which of these advisories were deleted, in any order. */
export async function findDeletedAdvisories(session: Session, uids: readonly string[]): Promise<DeletedAdvisoryRow[]> {
  const statement = session.prepared("deleted_advisories.get_all", (db, { deletedAdvisories: deleted }) =>
    db
      .select()
      .from(deleted)
      .where(session.isAmong(deleted.uid, textPlaceholder("uids"))),
  );
  return await statement.execute({ uids: JSON.stringify(uids) });
}
