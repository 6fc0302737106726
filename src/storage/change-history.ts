// The change log of one organization, in either direction.

import { latestRemovedChange } from "./changes.ts";
import { numberPlaceholder, textPlaceholder } from "./condition.ts";
import { and, asc, desc, eq, gt, lt, sql } from "./drizzle.ts";
import { organizationOf } from "./organization.ts";
import { atMost } from "./placeholders.ts";
import type { Session } from "./session.ts";

/** Which changes of an organization are read: so many at most, the latest first or, if they are to be followed, the earliest first. */
export interface HistoryRange {
  /** The uid of its root group. */
  readonly organization: string;
  readonly isFollowed: boolean;
  /** The number of the change that they are behind, in the order in which they are read; undefined for all. */
  readonly behind: number | undefined;
  readonly limit: number;
}

/** What tells whether a change is meant, without the rows before and after it. */
export async function readHistory(
  session: Session,
  { organization, isFollowed, behind = isFollowed ? 0 : Number.MAX_SAFE_INTEGER, limit }: HistoryRange,
) {
  const [isBehind, inOrder] = isFollowed ? [gt, asc] : [lt, desc];
  const statement = session.prepared(`changes.history.${isFollowed ? "followed" : "latest"}`, (db, { changes }) => {
    const { sequence, time, actor, kind, uid, groupUid } = changes;
    return db
      .select({ sequence, time, actor, kind, uid, groupUid })
      .from(changes)
      .where(
        and(
          eq(organizationOf(groupUid), sql.placeholder("organization")),
          isBehind(sequence, sql.placeholder("behind")),
        ),
      )
      .orderBy(inOrder(sequence))
      .limit(atMost("limit"));
  });
  return await statement.execute({ organization, behind, limit });
}

/** The whole changes of some numbers, the earliest first. */
export async function findChanges(session: Session, sequences: readonly number[]) {
  const statement = session.prepared("changes.find", (db, { changes }) =>
    db
      .select()
      .from(changes)
      .where(sql`${changes.sequence} in (select cast(value as bigint) from ${session.textsOf(textPlaceholder("of"))})`)
      .orderBy(asc(changes.sequence)),
  );
  return await statement.execute({ of: JSON.stringify(sequences.map(String)) });
}

/** Whether the log has a change, of this organization, and all that came later. */
export async function isFollowable(session: Session, organization: string, sequence: number): Promise<boolean> {
  // The latest of each kind stays, however much behind it is removed.
  return sequence >= (await latestRemovedChange(session)) && (await hasChange(session, organization, sequence));
}

async function hasChange(session: Session, organization: string, sequence: number): Promise<boolean> {
  const statement = session.prepared("changes.has", (db, { changes }) =>
    db
      .select({ sequence: changes.sequence })
      .from(changes)
      .where(
        and(
          eq(changes.sequence, numberPlaceholder("sequence")),
          eq(organizationOf(changes.groupUid), sql.placeholder("organization")),
        ),
      ),
  );
  return (await statement.execute({ organization, sequence })).length > 0;
}
