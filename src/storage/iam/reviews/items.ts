// Stores and finds the items of access reviews.
import { jsonRows, selectRows } from "../../engine/json-rows.ts";
import { limitOf, placeholders, textPlaceholder } from "../../engine/placeholders.ts";
import type { Session, Transaction } from "../../engine/session.ts";
import { and, asc, count, eq, getTableColumns, gt, sql } from "../../schema/drizzle.ts";
import { type AccessReviewItemRow, countColumns, type DecidedItem, type ItemDecision } from "./rows.ts";

/** Inserts items. */
export async function insertItems(tx: Transaction, rows: readonly AccessReviewItemRow[]): Promise<void> {
  const columns = getTableColumns(tx.tables.accessReviewItems);
  if (tx.isRemote) {
    const all = tx.prepared("access_review_items.insert_all", (db, { accessReviewItems }) =>
      db.insert(accessReviewItems).select(selectRows(columns)),
    );
    await all.execute({ rows: jsonRows(columns, rows) });
    return;
  }
  const one = tx.prepared("access_review_items.insert", (db, { accessReviewItems }) =>
    db.insert(accessReviewItems).values(placeholders(Object.keys(columns)) as never),
  );
  for (const row of rows) await one.execute({ ...row });
}

/** The items to find. */
export interface ItemFilter {
  readonly reviewUid: string;
  /** Empty for all. */
  readonly decision: ItemDecision | "";
  /** Empty for all. */
  readonly identityUid: string;
}

/** The page of items to read, in the order of the uids of their role bindings. */
export interface ItemPage {
  /** The page starts after this role binding; empty for the first. */
  readonly after: string;
  readonly skip: number;
  readonly limit: number;
}

/** Returns the items on a page. */
export async function findItems(session: Session, filter: ItemFilter, page: ItemPage): Promise<AccessReviewItemRow[]> {
  const statement = session.prepared(`access_review_items.page.${keyOf(filter)}`, (db, { accessReviewItems }) =>
    db
      .select()
      .from(accessReviewItems)
      .where(and(matches(session, filter), gt(accessReviewItems.roleBindingUid, textPlaceholder("after"))))
      .orderBy(asc(accessReviewItems.roleBindingUid))
      .limit(limitOf("limit"))
      .offset(sql.placeholder("skip")),
  );
  return (await statement.execute({ ...filter, ...page })) as AccessReviewItemRow[];
}

/** Counts the items of all pages. */
export async function countItems(session: Session, filter: ItemFilter): Promise<number> {
  const statement = session.prepared(`access_review_items.count.${keyOf(filter)}`, (db, { accessReviewItems }) =>
    db.select({ count: count() }).from(accessReviewItems).where(matches(session, filter)),
  );
  return Number((await statement.execute({ ...filter }))[0]?.count);
}

/** Each combination of filters has a statement of its own, which the index of the decision answers. */
function keyOf({ decision, identityUid }: ItemFilter): string {
  return `${decision === "" ? "all" : "decision"}.${identityUid === "" ? "all" : "identity"}`;
}

function matches({ tables: { accessReviewItems: items } }: Session, { decision, identityUid }: ItemFilter) {
  return and(
    eq(items.reviewUid, textPlaceholder("reviewUid")),
    decision === "" ? undefined : eq(items.decision, textPlaceholder("decision")),
    identityUid === "" ? undefined : eq(items.identityUid, textPlaceholder("identityUid")),
  );
}

/** Returns items by their role bindings, in any order. */
export async function findItemsOf(
  session: Session,
  reviewUid: string,
  roleBindingUids: readonly string[],
): Promise<AccessReviewItemRow[]> {
  const statement = session.prepared("access_review_items.of", (db, { accessReviewItems }) =>
    db
      .select()
      .from(accessReviewItems)
      .where(
        and(
          eq(accessReviewItems.reviewUid, textPlaceholder("reviewUid")),
          session.isAmong(accessReviewItems.roleBindingUid, textPlaceholder("uids")),
        ),
      ),
  );
  return (await statement.execute({ reviewUid, uids: JSON.stringify(roleBindingUids) })) as AccessReviewItemRow[];
}

/** Stores decisions about pending items, and counts them. The caller has locked the review. */
export async function storeDecisions(tx: Transaction, reviewUid: string, items: readonly DecidedItem[]): Promise<void> {
  const statement = tx.prepared("access_review_items.decide", (db, { accessReviewItems }) =>
    db
      .update(accessReviewItems)
      .set(placeholders(["decision", "reviewerUid", "comment", "decideTime"]))
      .where(
        and(
          eq(accessReviewItems.reviewUid, textPlaceholder("reviewUid")),
          tx.isAmong(accessReviewItems.roleBindingUid, textPlaceholder("uids")),
          eq(accessReviewItems.decision, sql.placeholder("pending")),
        ),
      ),
  );
  const pending: ItemDecision = "PENDING";
  for (const alike of alikeItems(items)) {
    const uids = JSON.stringify(alike.map(({ roleBindingUid }) => roleBindingUid));
    await statement.execute({ ...alike[0]!, reviewUid, uids, pending });
  }
  await addCounts(tx, reviewUid, items);
}

/** Groups items whose decisions do not differ: a statement stores them together. */
function alikeItems(items: readonly DecidedItem[]): Iterable<DecidedItem[]> {
  return Map.groupBy(items, ({ decision, reviewerUid, comment, decideTime }) =>
    JSON.stringify([decision, reviewerUid, comment, decideTime]),
  ).values();
}

async function addCounts(tx: Transaction, uid: string, items: readonly DecidedItem[]): Promise<void> {
  const names = Object.values(countColumns);
  const statement = tx.prepared("access_reviews.count", (db, { accessReviews }) =>
    db
      .update(accessReviews)
      .set(Object.fromEntries(names.map((name) => [name, sql`${accessReviews[name]} + ${sql.placeholder(name)}`])))
      .where(eq(accessReviews.uid, sql.placeholder("uid"))),
  );
  const added = Object.fromEntries(names.map((name) => [name, 0]));
  for (const { decision } of items) added[countColumns[decision]]!++;
  added.pendingCount! -= items.length;
  await statement.execute({ uid, ...added });
}
