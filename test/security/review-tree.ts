// Access reviews for the matrices.

import { newChild } from "../../src/model/uid.ts";
import { insertRow } from "../../src/storage/collection/rows.ts";
import { accessReviewCollection } from "../../src/storage/iam/reviews/collections.ts";
import type { AccessReviewRow } from "../../src/storage/iam/reviews/rows.ts";
import { arrange, type Place } from "./tree.ts";

/** Adds a review without items that is open for a week. */
export function addReview(server: Place, parent: string): Promise<string> {
  const now = server.clock();
  const dueTime = now + 7 * 86_400_000;
  const row: AccessReviewRow = {
    uid: newChild(parent),
    parent,
    name: "review",
    dueTime,
    onDue: "REPORT_ONLY",
    reviewerIdentityUids: [],
    roleUids: [],
    holders: "",
    unusedDays: 0,
    creatorUid: "",
    createTime: now,
    endTime: dueTime,
    closeTime: null,
    recordedTime: null,
    keptUnconfirmed: false,
    itemCount: 0,
    pendingCount: 0,
    confirmedCount: 0,
    revokedCount: 0,
    goneCount: 0,
    changedCount: 0,
    keptLastOwnerCount: 0,
  };
  return arrange(server, async (tx) => {
    await insertRow(tx, accessReviewCollection, row);
    return row.uid;
  });
}
