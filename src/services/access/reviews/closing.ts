// Closes reviews whose time has come, in batches: a server that stops between two leaves nothing half decided.

import { loggedAs, nobody } from "../../../storage/collection/logged-as.ts";
import { findRow, findRows, lockRow, updateRow } from "../../../storage/collection/rows.ts";
import type { Transaction } from "../../../storage/engine/session.ts";
import { roleBindingCollection } from "../../../storage/iam/collections.ts";
import { accessReviewCollection, closingCause, endingCause } from "../../../storage/iam/reviews/collections.ts";
import { findItems, storeDecisions } from "../../../storage/iam/reviews/items.ts";
import { findEndingReviews, reviewStateAt } from "../../../storage/iam/reviews/queries.ts";
import type { AccessReviewItemRow, AccessReviewRow, ItemDecision } from "../../../storage/iam/reviews/rows.ts";
import type { RoleBindingRow } from "../../../storage/iam/rows.ts";
import { inactivityOf } from "../../iam/delegations/active-delegations.ts";
import { givesOwner, isLastOwner } from "../../iam/rules/last-owner.ts";
import { deleteByItself } from "../../iam/users/ended-bindings.ts";
import { stateOf } from "./decisions.ts";

/** Decides up to `limit` items of the review whose closing began first, and closes it with the last one. */
export async function closeBatch(tx: Transaction, limit: number): Promise<void> {
  const [found] = await findEndingReviews(tx, 1);
  const review = found && (await lockRow(tx, accessReviewCollection, found.uid));
  if (!review || reviewStateAt(review, tx.termTime()) !== "CLOSING") return;
  if (review.onDue === "REPORT_ONLY") await close(tx, review.uid, false);
  // Another owner may have taken the right from the maker of the review since.
  else if (await inactivityOf(tx, "access_reviews", review.uid)) await close(tx, review.uid, true);
  else if (await endBatch(tx, review, limit)) await close(tx, review.uid, false);
}

/** Ends role bindings that nobody confirmed. Returns whether none are left. */
async function endBatch(tx: Transaction, { uid: reviewUid }: AccessReviewRow, limit: number): Promise<boolean> {
  const pending = { reviewUid, decision: "PENDING", identityUid: "" } as const;
  const items = await findItems(tx, pending, { after: "", skip: 0, limit });
  const decisions = await endItems(tx, items);
  const by = { reviewerUid: "", comment: "", decideTime: tx.termTime() };
  await storeDecisions(
    tx,
    reviewUid,
    items.map(({ roleBindingUid }) => ({ roleBindingUid, decision: decisions.get(roleBindingUid)!, ...by })),
  );
  return items.length < limit;
}

/** Ends role bindings. Returns the decisions about them. */
async function endItems(
  tx: Transaction,
  items: readonly AccessReviewItemRow[],
): Promise<ReadonlyMap<string, ItemDecision>> {
  const uids = items.map(({ roleBindingUid }) => roleBindingUid);
  const bindings = new Map((await findRows(tx, roleBindingCollection, uids)).map((row) => [row.uid, row]));
  const decisions = new Map<string, ItemDecision>();
  const unchanged: RoleBindingRow[] = [];
  for (const item of items) {
    const binding = bindings.get(item.roleBindingUid);
    const found = stateOf(tx, item, binding);
    if (!found) unchanged.push(binding!);
    decisions.set(item.roleBindingUid, found ?? "REVOKED");
  }
  const { owners = [], others = [] } = Object.groupBy(unchanged, (row) => (givesOwner(row) ? "owners" : "others"));
  await deleteByItself(tx, others, endingCause);
  // One after another: each has to see that those before it are gone.
  for (const owner of owners)
    if (await isLastOwner(tx, owner)) decisions.set(owner.uid, "KEPT_LAST_OWNER");
    else await deleteByItself(tx, [owner], endingCause);
  return decisions;
}

async function close(tx: Transaction, uid: string, keptUnconfirmed: boolean): Promise<void> {
  // With the counts of the batch.
  const row = (await findRow(tx, accessReviewCollection, uid))!;
  const closed = { ...row, endTime: null, closeTime: tx.termTime(), keptUnconfirmed };
  await updateRow(loggedAs(tx, closingCause, nobody), accessReviewCollection, row, closed);
}
