// The numbers of items with each decision, which access reviews store: what their lists show.
import type { DerivedTables } from "../../collection/collection.ts";
import { limitOf, textPlaceholder } from "../../engine/placeholders.ts";
import type { Session } from "../../engine/session.ts";
import { scanTable } from "../../engine/table-scan.ts";
import { asc, count, eq, gt, sql } from "../../schema/drizzle.ts";
import { countColumns, type DecisionCounts, type ItemDecision } from "./rows.ts";

const pageSize = 200;

const decisions = Object.entries(countColumns) as [ItemDecision, keyof DecisionCounts][];

/** Checks and repairs the numbers. */
export const reviewCounts: DerivedTables = {
  tables: ({ accessReviewItems }) => [accessReviewItems],
  async *findings(session) {
    for await (const { uid, column, stored, actual } of wrongCounts(session))
      yield `access_reviews: ${column} of ${uid} is ${stored}, but there are ${actual} items`;
  },
  async repair(tx) {
    let repaired = 0;
    for await (const { uid, column, actual } of wrongCounts(tx)) {
      const statement = tx.prepared(`access_reviews.repair.${column}`, (db, { accessReviews }) =>
        db
          .update(accessReviews)
          .set({ [column]: sql`${sql.placeholder("actual")}` })
          .where(eq(accessReviews.uid, sql.placeholder("uid"))),
      );
      await statement.execute({ uid, actual });
      repaired++;
    }
    return repaired;
  },
};

async function* wrongCounts(session: Session) {
  for await (const review of reviewsOf(session)) {
    const actual = await countByDecision(session, review.uid);
    const total = [...actual.values()].reduce((sum, each) => sum + each, 0);
    const expected = [
      ["itemCount", total] as const,
      ...decisions.map(([decision, column]) => [column, actual.get(decision) ?? 0] as const),
    ];
    for (const [column, items] of expected)
      if (review[column] !== items) yield { uid: review.uid, column, stored: review[column], actual: items };
  }
}

async function* reviewsOf(session: Session) {
  const statement = session.prepared("access_reviews.check.counts", (db, { accessReviews }) =>
    db
      .select()
      .from(accessReviews)
      .where(gt(accessReviews.uid, textPlaceholder("after")))
      .orderBy(asc(accessReviews.uid))
      .limit(limitOf(pageSize)),
  );
  const read = (after: string) => statement.execute({ after });
  for await (const page of scanTable(pageSize, "", read, ({ uid }) => uid)) yield* page;
}

async function countByDecision(session: Session, uid: string): Promise<ReadonlyMap<string, number>> {
  const statement = session.prepared("access_review_items.count_by_decision", (db, { accessReviewItems: items }) =>
    db
      .select({ decision: items.decision, count: count() })
      .from(items)
      .where(eq(items.reviewUid, textPlaceholder("uid")))
      .groupBy(items.decision),
  );
  return new Map((await statement.execute({ uid })).map((row) => [row.decision, Number(row.count)]));
}
