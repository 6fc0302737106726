// Finds access requests and their rules.
import { rangeBelow } from "../../../model/uid.ts";
import { limitOf, numberPlaceholder, textPlaceholder } from "../../engine/placeholders.ts";
import type { Session } from "../../engine/session.ts";
import type { Condition } from "../../list/condition.ts";
import { and, asc, count, desc, eq, gt, gte, isNotNull, lt, lte, sql } from "../../schema/drizzle.ts";
import { isUnacknowledged } from "../../schema/tables/access-requests.ts";
import type { AccessRequestRow, AccessRequestRuleRow } from "./rows.ts";

/** The condition of break-glass requests that nobody has acknowledged. */
export const unacknowledged: Pick<Condition, "name" | "build" | "values"> = {
  name: "unacknowledged",
  build: ({ tables: { accessRequests } }) => isUnacknowledged(accessRequests),
  values: {},
};

/** Returns the rules at exactly these groups. */
export async function findRulesAt(session: Session, groupUids: readonly string[]): Promise<AccessRequestRuleRow[]> {
  const statement = session.prepared("access_request_rules.at", (db, { accessRequestRules }) =>
    db
      .select()
      .from(accessRequestRules)
      .where(session.isAmong(accessRequestRules.parent, textPlaceholder("groups"))),
  );
  return (await statement.execute({ groups: JSON.stringify(groupUids) })) as AccessRequestRuleRow[];
}

/** Returns the rules of a group and its descendants in the order of their uids, `limit` at most. */
export async function findRulesIn(session: Session, groupUid: string, limit: number): Promise<AccessRequestRuleRow[]> {
  const statement = session.prepared("access_request_rules.in", (db, { accessRequestRules }) =>
    db
      .select()
      .from(accessRequestRules)
      .where(
        and(gte(accessRequestRules.uid, textPlaceholder("from")), lt(accessRequestRules.uid, textPlaceholder("to"))),
      )
      .orderBy(asc(accessRequestRules.uid))
      .limit(limitOf("limit")),
  );
  return (await statement.execute({ ...rangeBelow(groupUid), limit })) as AccessRequestRuleRow[];
}

/** Returns the requests that are pending or active, of a rule, an identity or a role binding. */
export async function findOpenRequestsOf(
  session: Session,
  column: "ruleUid" | "identityUid" | "roleBindingUid",
  uid: string,
): Promise<AccessRequestRow[]> {
  const statement = session.prepared(`access_requests.open_of.${column}`, (db, { accessRequests }) =>
    db
      .select()
      .from(accessRequests)
      .where(and(eq(accessRequests[column], textPlaceholder("uid")), isNotNull(accessRequests.dueTime))),
  );
  return (await statement.execute({ uid })) as AccessRequestRow[];
}

/** Returns the pending requests at a group and its descendants, `limit` at most. Those that expire first come first. */
export async function findPendingIn(session: Session, groupUid: string, limit: number): Promise<AccessRequestRow[]> {
  const statement = session.prepared("access_requests.pending_in", (db, { accessRequests }) => {
    const { uid, state, dueTime } = accessRequests;
    return db
      .select()
      .from(accessRequests)
      .where(
        and(
          gt(uid, textPlaceholder("from")),
          lt(uid, textPlaceholder("to")),
          isNotNull(dueTime),
          eq(state, textPlaceholder("state")),
        ),
      )
      .orderBy(asc(dueTime))
      .limit(limitOf("limit"));
  });
  return (await statement.execute({ ...rangeBelow(groupUid), state: "PENDING", limit })) as AccessRequestRow[];
}

/** Returns the break-glass requests at a group and its descendants that nobody has acknowledged, `limit` at most, oldest first. */
export async function findUnacknowledgedIn(
  session: Session,
  groupUid: string,
  limit: number,
): Promise<AccessRequestRow[]> {
  const statement = session.prepared("access_requests.unacknowledged_in", (db, { accessRequests }) => {
    const { uid, createTime } = accessRequests;
    return db
      .select()
      .from(accessRequests)
      .where(and(gt(uid, textPlaceholder("from")), lt(uid, textPlaceholder("to")), isUnacknowledged(accessRequests)))
      .orderBy(asc(createTime), asc(uid))
      .limit(limitOf("limit"));
  });
  return (await statement.execute({ ...rangeBelow(groupUid), limit })) as AccessRequestRow[];
}

/** Counts the break-glass requests of an identity that nobody has acknowledged. */
export async function countUnacknowledgedOf(session: Session, identityUid: string): Promise<number> {
  const statement = session.prepared("access_requests.count_unacknowledged_of", (db, { accessRequests }) =>
    db
      .select({ count: count() })
      .from(accessRequests)
      .where(and(eq(accessRequests.identityUid, textPlaceholder("identityUid")), isUnacknowledged(accessRequests))),
  );
  return Number((await statement.execute({ identityUid }))[0]?.count);
}

/** Counts the pending requests at exactly one group. */
export async function countPendingAt(session: Session, groupUid: string): Promise<number> {
  const statement = session.prepared("access_requests.count_pending_at", (db, { accessRequests }) => {
    const { uid, parent, state, dueTime } = accessRequests;
    return db
      .select({ count: count() })
      .from(accessRequests)
      .where(
        and(
          gt(uid, textPlaceholder("from")),
          lt(uid, textPlaceholder("to")),
          eq(parent, textPlaceholder("groupUid")),
          isNotNull(dueTime),
          eq(state, textPlaceholder("state")),
        ),
      );
  });
  const found = await statement.execute({ ...rangeBelow(groupUid), groupUid, state: "PENDING" });
  return Number(found[0]?.count);
}

/** Returns the latest requests of an identity, newest first. */
export async function findRequestsOf(
  session: Session,
  identityUid: string,
  limit: number,
): Promise<AccessRequestRow[]> {
  const statement = session.prepared("access_requests.of", (db, { accessRequests }) =>
    db
      .select()
      .from(accessRequests)
      .where(eq(accessRequests.identityUid, textPlaceholder("identityUid")))
      .orderBy(desc(accessRequests.createTime), desc(accessRequests.uid))
      .limit(limitOf("limit")),
  );
  return (await statement.execute({ identityUid, limit })) as AccessRequestRow[];
}

/** Returns the requests whose time for decisions or whose end has passed, `limit` at most. */
export async function findDueRequests(session: Session, limit: number): Promise<AccessRequestRow[]> {
  const statement = session.prepared("access_requests.due", (db, { accessRequests }) =>
    db
      .select()
      .from(accessRequests)
      .where(lte(accessRequests.dueTime, numberPlaceholder("now")))
      .orderBy(asc(accessRequests.dueTime))
      .limit(limitOf("limit")),
  );
  return (await statement.execute({ now: session.termTime(), limit })) as AccessRequestRow[];
}

/**
 * Returns the requests that were over at a time, `limit` at most, oldest first. Break-glass stays until it is acknowledged: retention does not
 * settle it.
 */
export async function findClosedRequests(session: Session, time: number, limit: number): Promise<AccessRequestRow[]> {
  const statement = session.prepared("access_requests.closed", (db, { accessRequests }) => {
    const { closeTime } = accessRequests;
    return db
      .select()
      .from(accessRequests)
      .where(and(lte(closeTime, numberPlaceholder("time")), sql`not (${isUnacknowledged(accessRequests)})`))
      .orderBy(asc(closeTime))
      .limit(limitOf("limit"));
  });
  return (await statement.execute({ time, limit })) as AccessRequestRow[];
}

/** Returns the requests at exactly one group. */
export async function findRequestsAt(session: Session, groupUid: string): Promise<AccessRequestRow[]> {
  const statement = session.prepared("access_requests.at", (db, { accessRequests }) =>
    db
      .select()
      .from(accessRequests)
      .where(eq(accessRequests.parent, textPlaceholder("groupUid"))),
  );
  return (await statement.execute({ groupUid })) as AccessRequestRow[];
}
