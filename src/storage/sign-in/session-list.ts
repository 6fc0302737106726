// Lists the refresh families of an installation, which are the sessions of people.
import { textPlaceholder } from "../engine/placeholders.ts";
import type { Session } from "../engine/session.ts";
import { and, count, desc, eq, gt, lt, or, sql } from "../schema/drizzle.ts";
import type { Tables } from "../schema/tables.ts";
import type { RefreshFamilyRow } from "./sign-ins.ts";

/** The sessions to list. */
export interface SessionFilter {
  /** Empty for those of all identities. */
  readonly identityUid: string;
  /** Sessions that have expired by then are left out, in milliseconds since the epoch. */
  readonly now: number;
}

/** The last session of the page before. */
export interface SessionPosition {
  readonly expireTime: number;
  readonly id: string;
}

/** The page of them. */
export interface SessionPage {
  readonly after: SessionPosition | undefined;
  readonly skip: number;
  readonly limit: number;
}

/** Returns the sessions after a position, those that expire last first. */
export async function listSessions(
  session: Session,
  filter: SessionFilter,
  { after, skip, limit }: SessionPage,
): Promise<RefreshFamilyRow[]> {
  const name = `sessions.list${filter.identityUid === "" ? "" : ".of"}${after ? ".after" : ""}`;
  const statement = session.prepared(name, (db, tables) =>
    db
      .select()
      .from(tables.refreshFamilies)
      .where(and(...conditions(tables, filter), ...(after ? [beyond(tables)] : [])))
      .orderBy(desc(tables.refreshFamilies.expireTime), desc(tables.refreshFamilies.id))
      .limit(sql.placeholder("limit"))
      .offset(sql.placeholder("skip")),
  );
  return await statement.execute({ ...filter, ...(after && { time: after.expireTime, id: after.id }), skip, limit });
}

/** Counts the sessions. */
export async function countSessions(session: Session, filter: SessionFilter): Promise<number> {
  const name = `sessions.count${filter.identityUid === "" ? "" : ".of"}`;
  const statement = session.prepared(name, (db, tables) =>
    db
      .select({ rows: count() })
      .from(tables.refreshFamilies)
      .where(and(...conditions(tables, filter))),
  );
  return (await statement.execute({ ...filter }))[0]?.rows ?? 0;
}

function conditions({ refreshFamilies }: Tables, { identityUid }: SessionFilter) {
  return [
    gt(refreshFamilies.expireTime, sql.placeholder("now")),
    ...(identityUid === "" ? [] : [eq(refreshFamilies.identityUid, textPlaceholder("identityUid"))]),
  ];
}

function beyond({ refreshFamilies: { expireTime, id } }: Tables) {
  return or(
    lt(expireTime, sql.placeholder("time")),
    and(eq(expireTime, sql.placeholder("time")), lt(id, sql.placeholder("id"))),
  );
}
