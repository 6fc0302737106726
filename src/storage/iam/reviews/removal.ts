import { deleteRow } from "../../collection/rows.ts";
import type { Transaction } from "../../engine/session.ts";
import { accessReviewCollection } from "./collections.ts";
import { findClosedReviews } from "./queries.ts";

/** Deletes one review that was closed at or before a time, with its items, which are many. Returns whether there was none. */
export async function removeClosedReview(tx: Transaction, time: number): Promise<boolean> {
  const [row] = await findClosedReviews(tx, time, 1);
  if (row) await deleteRow(tx, accessReviewCollection, row);
  return row === undefined;
}
