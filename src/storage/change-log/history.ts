// The change log of one organization, in either direction.

import { limitOf, textPlaceholder } from "../engine/placeholders.ts";
import type { Session } from "../engine/session.ts";
import { and, asc, desc, eq, gt, lt, sql } from "../schema/drizzle.ts";
import { organizationOf } from "../schema/organization.ts";
import { lastChange } from "./change-log.ts";

/** Which changes of an organization are read: so many at most, the latest first or, if they are to be followed, the earliest first. */
export interface HistoryRange {
  /** The uid of its root group. */
  readonly organization: string;
  readonly isFollowed: boolean;
  /** The number of the change that they are after, in the order in which they are read; undefined for all. */
  readonly after: number | undefined;
  readonly limit: number;
}

/** What tells whether a change is meant, without the rows before and after it. */
export async function readHistory(
  session: Session,
  { organization, isFollowed, after = isFollowed ? 0 : Number.MAX_SAFE_INTEGER, limit }: HistoryRange,
) {
  const [isAfter, inOrder] = isFollowed ? [gt, asc] : [lt, desc];
  const statement = session.prepared(`changes.history.${isFollowed ? "followed" : "latest"}`, (db, { changes }) => {
    const { sequence, time, actor, kind, uid, groupUid } = changes;
    return db
      .select({ sequence, time, actor, kind, uid, groupUid })
      .from(changes)
      .where(
        and(eq(organizationOf(groupUid), sql.placeholder("organization")), isAfter(sequence, sql.placeholder("after"))),
      )
      .orderBy(inOrder(sequence))
      .limit(limitOf("limit"));
  });
  return await statement.execute({ organization, after, limit });
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

/** One change in the log. After a backup was put back, another one of the same number has another time. */
export interface LogPosition {
  readonly sequence: number;
  /** Milliseconds since the epoch. */
  readonly time: number;
}

/** Before the first change. */
export const startOfLog: LogPosition = { sequence: 0, time: 0 };

/** The latest change in the log. */
export async function endOfLog(session: Session): Promise<LogPosition> {
  const sequence = await lastChange(session);
  const found = await findLogPosition(session, sequence);
  return found ? { sequence, time: found.time } : startOfLog;
}

/** What tells whether a place in the log is still the one that it was. */
export interface FoundPlace {
  readonly time: number;
  readonly groupUid: string;
}

/** The change of a number; undefined when there is none. */
export async function findLogPosition(session: Session, sequence: number): Promise<FoundPlace | undefined> {
  const statement = session.prepared("changes.place", (db, { changes }) =>
    db
      .select({ time: changes.time, groupUid: changes.groupUid })
      .from(changes)
      .where(eq(changes.sequence, sql.placeholder("sequence"))),
  );
  return (await statement.execute({ sequence }))[0];
}
