// Finds access reviews.
import { rangeBelow } from "../../../model/uid.ts";
import { limitOf, numberPlaceholder, textPlaceholder } from "../../engine/placeholders.ts";
import type { Session } from "../../engine/session.ts";
import type { Condition } from "../../list/condition.ts";
import { and, asc, eq, gt, lt, lte, sql } from "../../schema/drizzle.ts";
import type { AccessReviewRow } from "./rows.ts";

/** Returns the reviews whose closing has begun, `limit` at most. Those that began first come first. */
export async function findEndingReviews(session: Session, limit: number): Promise<AccessReviewRow[]> {
  const statement = session.prepared("access_reviews.ending", (db, { accessReviews }) =>
    db
      .select()
      .from(accessReviews)
      .where(lte(accessReviews.endTime, numberPlaceholder("now")))
      .orderBy(asc(accessReviews.endTime))
      .limit(limitOf("limit")),
  );
  return (await statement.execute({ now: session.termTime(), limit })) as AccessReviewRow[];
}

/** Returns the reviews that were closed at or before a time, `limit` at most. */
export async function findClosedReviews(session: Session, time: number, limit: number): Promise<AccessReviewRow[]> {
  const statement = session.prepared("access_reviews.closed", (db, { accessReviews }) =>
    db
      .select()
      .from(accessReviews)
      .where(lte(accessReviews.closeTime, numberPlaceholder("time")))
      .orderBy(asc(accessReviews.closeTime))
      .limit(limitOf("limit")),
  );
  return (await statement.execute({ time, limit })) as AccessReviewRow[];
}

/** Returns the reviews at exactly one group. */
export async function findReviewsAt(session: Session, groupUid: string): Promise<AccessReviewRow[]> {
  const statement = session.prepared("access_reviews.at", (db, { accessReviews }) =>
    db
      .select()
      .from(accessReviews)
      .where(eq(accessReviews.parent, textPlaceholder("groupUid"))),
  );
  return (await statement.execute({ groupUid })) as AccessReviewRow[];
}

/** Returns how many items the reviews at a group and below it have together. */
export async function countItemsBelow(session: Session, groupUid: string): Promise<number> {
  const statement = session.prepared("access_reviews.items_below", (db, { accessReviews: { uid, itemCount } }) =>
    db
      .select({ count: sql`coalesce(sum(${itemCount}), 0)`.mapWith(Number).as("count") })
      .from(session.tables.accessReviews)
      .where(and(gt(uid, textPlaceholder("from")), lt(uid, textPlaceholder("to")))),
  );
  return (await statement.execute(rangeBelow(groupUid)))[0]!.count;
}

/** The states of reviews. */
export type ReviewState = "OPEN" | "CLOSING" | "CLOSED";

/** Returns the state of a review at a time. */
export function reviewStateAt({ endTime }: Pick<AccessReviewRow, "endTime">, time: number): ReviewState {
  if (endTime === null) return "CLOSED";
  return endTime <= time ? "CLOSING" : "OPEN";
}

/** Returns the condition of reviews in a state. */
export function stateCondition(state: ReviewState, now: number): Condition {
  return {
    name: "review_state",
    build: ({ tables: { accessReviews } }) => {
      const { endTime } = accessReviews;
      const isEnding = sql`${endTime} <= ${numberPlaceholder("now")}`;
      return sql`(case when ${endTime} is null then 'CLOSED' when ${isEnding} then 'CLOSING' else 'OPEN' end) = ${textPlaceholder("state")}`;
    },
    values: { state, now },
  };
}
