// Reads the change log of one organization, in either direction.

import type { SQL, SQLWrapper } from "drizzle-orm";
import { limitOf, textPlaceholder } from "../engine/placeholders.ts";
import type { Session } from "../engine/session.ts";
import { and, asc, desc, eq, gt, gte, lt, sql } from "../schema/drizzle.ts";
import { organizationOf } from "../schema/organization.ts";
import { lastChange } from "./change-log.ts";

/** Selects changes of an organization: the oldest first if they are followed, otherwise the newest first. */
export interface HistoryRange {
  /** The uid of its root group. */
  readonly organization: string;
  readonly isFollowed: boolean;
  /** Start after the change with this sequence number, in reading order; undefined for the first. */
  readonly after: number | undefined;
  readonly limit: number;
  /** Whether names and outcomes are read, too: they are in the rows, which can be large. Otherwise they are empty. */
  readonly withContent?: boolean;
}

/** The members of rows that name their resources. */
const nameMembers = ["name", "displayName", "userName"] as const;

/** Reads changes without the rows before and after them, but for a few members of these with `withContent`. */
export async function readHistory(
  session: Session,
  {
    organization,
    isFollowed,
    after = isFollowed ? 0 : Number.MAX_SAFE_INTEGER,
    limit,
    withContent = false,
  }: HistoryRange,
) {
  const [isAfter, inOrder] = isFollowed ? [gt, asc] : [lt, desc];
  const key = `changes.history.${isFollowed ? "followed" : "latest"}${withContent ? ".content" : ""}`;
  const statement = session.prepared(key, (db, { changes }) => {
    const { sequence, time, actor, method, kind, uid, groupUid } = changes;
    const none = sql<string>`''`;
    const name = withContent ? memberOf([changes.after, changes.before], nameMembers) : none;
    const outcome = withContent ? memberOf([changes.after], ["outcome"]) : none;
    return db
      .select({
        sequence,
        time,
        actor,
        method,
        kind,
        uid,
        groupUid,
        name: name.as("name"),
        outcome: outcome.as("outcome"),
      })
      .from(changes)
      .where(
        and(eq(organizationOf(groupUid), sql.placeholder("organization")), isAfter(sequence, sql.placeholder("after"))),
      )
      .orderBy(inOrder(sequence))
      .limit(limitOf("limit"));
  });
  return await statement.execute({ organization, after, limit });
}

/** Returns changes of all organizations from a sequence number on, oldest first, without the rows before and after them. */
export async function readHistoryFrom(session: Session, from: number, limit: number) {
  const statement = session.prepared("changes.history.all", (db, { changes }) => {
    const { sequence, time, actor, method, kind, uid, groupUid } = changes;
    return db
      .select({ sequence, time, actor, method, kind, uid, groupUid })
      .from(changes)
      .where(gte(sequence, sql.placeholder("from")))
      .orderBy(asc(sequence))
      .limit(limitOf("limit"));
  });
  return await statement.execute({ from, limit });
}

/** Returns the name and the outcome that the rows of a change have, as `readHistory` does with `withContent`. */
export function contentOf({ before, after }: { readonly before: unknown; readonly after: unknown }) {
  const textAt = (row: unknown, member: string): string => {
    const value = (row as Record<string, unknown> | null)?.[member];
    return typeof value === "string" || typeof value === "number" ? String(value) : "";
  };
  const name = [after, before].flatMap((row) => nameMembers.map((member) => textAt(row, member))).find((text) => text);
  return { name: name ?? "", outcome: textAt(after, "outcome") };
}

/** Returns the first text that one of some rows has in one of some members; empty if none has. */
function memberOf(rows: readonly SQLWrapper[], members: readonly string[]): SQL<string> {
  const values = rows.flatMap((row) => members.map((member) => sql`${row} ->> ${sql.raw(`'${member}'`)}`));
  return sql<string>`coalesce(${sql.join(values, sql`, `)}, '')`;
}

/** Returns the changes with these sequence numbers, oldest first. */
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

/** A position in the change log. If a backup was restored, the same sequence number may have another time. */
export interface LogPosition {
  readonly sequence: number;
  /** Milliseconds since the epoch. */
  readonly time: number;
}

/** The position before the first change. */
export const startOfLog: LogPosition = { sequence: 0, time: 0 };

/** Returns the position of the last change. */
export async function endOfLog(session: Session): Promise<LogPosition> {
  const sequence = await lastChange(session);
  const found = await findLogPosition(session, sequence);
  return found ? { sequence, time: found.time } : startOfLog;
}

/** The time and group of a change, which tell whether a position is still valid. */
export interface FoundPlace {
  readonly time: number;
  readonly groupUid: string;
}

/** Returns the change with a sequence number, or undefined. */
export async function findLogPosition(session: Session, sequence: number): Promise<FoundPlace | undefined> {
  const statement = session.prepared("changes.place", (db, { changes }) =>
    db
      .select({ time: changes.time, groupUid: changes.groupUid })
      .from(changes)
      .where(eq(changes.sequence, sql.placeholder("sequence"))),
  );
  return (await statement.execute({ sequence }))[0];
}
