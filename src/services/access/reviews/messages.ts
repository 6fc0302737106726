import type { MessageInitShape } from "@bufbuild/protobuf";
import { Capability } from "../../../../gen/chainguard/capabilities/capabilities_pb.ts";
import {
  AccessReviewDecision,
  AccessReviewHolders,
  type AccessReviewItemSchema,
  AccessReviewOnDue,
  type AccessReviewSchema,
  AccessReviewState,
} from "../../../../gen/gatehouse/access/v1/access_reviews_pb.ts";
import { toTimestamp } from "../../../aip/timestamps.ts";
import { parentOf } from "../../../model/uid.ts";
import { accessOf } from "../../../pipeline/authorize.ts";
import type { Call } from "../../../pipeline/call.ts";
import { findRows } from "../../../storage/collection/rows.ts";
import type { Session } from "../../../storage/engine/session.ts";
import { groupCollection } from "../../../storage/iam/collections.ts";
import { reviewStateAt } from "../../../storage/iam/reviews/queries.ts";
import type { AccessReviewItemRow, AccessReviewRow } from "../../../storage/iam/reviews/rows.ts";
import { isReadable, isReadableRole } from "../../iam/rules/readable.ts";

/** A review as responses have it. */
export type ShownReview = MessageInitShape<typeof AccessReviewSchema>;

/** An item as responses have it. */
export type ShownItem = MessageInitShape<typeof AccessReviewItemSchema>;

/** Converts a stored review to its message, without what other rows and the time say. */
export function reviewMessage(row: AccessReviewRow) {
  const { uid, name: title, parent: groupUid, creatorUid, unusedDays, itemCount, keptUnconfirmed } = row;
  const { pendingCount, confirmedCount, revokedCount, goneCount, changedCount, keptLastOwnerCount } = row;
  const counts = { pendingCount, confirmedCount, revokedCount, goneCount, changedCount, keptLastOwnerCount };
  // A review that was closed before its due time ends before it.
  const state = reviewStateAt(row, row.dueTime - 1);
  return {
    uid,
    title,
    groupUid,
    dueTime: toTimestamp(row.dueTime),
    onDue: AccessReviewOnDue[row.onDue],
    reviewerIdentityUids: [...row.reviewerIdentityUids],
    roleUids: [...row.roleUids],
    holders: AccessReviewHolders[row.holders || "UNSPECIFIED"],
    unusedDays,
    state: AccessReviewState[state],
    creatorUid,
    createTime: toTimestamp(row.createTime),
    ...(row.closeTime !== null && { closeTime: toTimestamp(row.closeTime) }),
    ...(row.recordedTime !== null && { recordedSinceTime: toTimestamp(row.recordedTime) }),
    itemCount,
    ...counts,
    keptUnconfirmed,
  };
}

/** Shows reviews with their states now and the names of their groups. */
export async function showReviews(
  session: Session,
  rows: readonly AccessReviewRow[],
  call: Call,
): Promise<ShownReview[]> {
  const groups = new Map(
    (await findRows(session, groupCollection, [...new Set(rows.map(({ parent }) => parent))])).map((group) => [
      group.uid,
      group.name,
    ]),
  );
  const showsGroup = (uid: string) => accessOf(call).has(Capability.CAP_IAM_GROUPS_LIST, uid);
  return rows.map((row) => ({
    ...reviewMessage(row),
    state: AccessReviewState[reviewStateAt(row, session.termTime())],
    groupName: (showsGroup(row.parent) && groups.get(row.parent)) || "",
  }));
}

/** Converts a stored item to its message, without names. */
export function itemMessage(row: AccessReviewItemRow) {
  const { roleBindingUid, identityUid, roleUid, reviewerUid, comment } = row;
  const { startTime, expireTime, lastUseTime, observedTime, decideTime } = row;
  const { usedCapabilityCount, capabilityCount, delegationCount } = row;
  return {
    roleBindingUid,
    identityUid,
    groupUid: parentOf(roleBindingUid),
    roleUid,
    createTime: toTimestamp(row.createTime),
    ...(startTime !== null && { startTime: toTimestamp(startTime) }),
    ...(expireTime !== null && { expireTime: toTimestamp(expireTime) }),
    ...(lastUseTime !== null && { lastUseTime: toTimestamp(lastUseTime) }),
    usedCapabilityCount,
    capabilityCount,
    ...(observedTime !== null && { observedSinceTime: toTimestamp(observedTime) }),
    delegationCount,
    decision: AccessReviewDecision[row.decision],
    reviewerUid,
    comment,
    ...(decideTime !== null && { decideTime: toTimestamp(decideTime) }),
  };
}

/** Shows an item, with the names that the caller may see. */
export function showItem(row: AccessReviewItemRow, call: Call): ShownItem {
  const { identityUid, roleUid } = row;
  const groupUid = parentOf(row.roleBindingUid);
  return {
    ...itemMessage(row),
    identityName: isReadable({ identityUid, parent: groupUid }, call) ? row.identityName : "",
    groupName: accessOf(call).has(Capability.CAP_IAM_GROUPS_LIST, groupUid) ? row.groupName : "",
    roleName: isReadableRole(roleUid, groupUid, call) ? row.roleName : "",
  };
}
