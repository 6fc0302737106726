// The rows of access reviews and their items. Times are in milliseconds since the epoch.
import type { ResourceRow } from "../../collection/collection.ts";

/** Whether role bindings that nobody decided about end when the review closes. */
export type OnDue = "END_UNCONFIRMED" | "REPORT_ONLY";

/** The decisions about an item. */
export type ItemDecision = "PENDING" | "CONFIRMED" | "REVOKED" | "GONE" | "CHANGED" | "KEPT_LAST_OWNER";

/** How many items have which decision. */
export interface DecisionCounts {
  readonly pendingCount: number;
  readonly confirmedCount: number;
  readonly revokedCount: number;
  readonly goneCount: number;
  readonly changedCount: number;
  readonly keptLastOwnerCount: number;
}

/** The column that counts the items with a decision. */
export const countColumns: Readonly<Record<ItemDecision, keyof DecisionCounts>> = {
  PENDING: "pendingCount",
  CONFIRMED: "confirmedCount",
  REVOKED: "revokedCount",
  GONE: "goneCount",
  CHANGED: "changedCount",
  KEPT_LAST_OWNER: "keptLastOwnerCount",
};

/** An access review as it is stored. */
export interface AccessReviewRow extends ResourceRow, DecisionCounts {
  /** The uid of the group. */
  readonly parent: string;
  /** The title. */
  readonly name: string;
  readonly dueTime: number;
  readonly onDue: OnDue;
  readonly reviewerIdentityUids: readonly string[];
  readonly roleUids: readonly string[];
  /** Empty for all holders. */
  readonly holders: "" | "PEOPLE" | "WORKLOADS";
  /** 0 if the uses do not matter. */
  readonly unusedDays: number;
  readonly creatorUid: string;
  /** When closing begins: the due time, or when a caller closed the review; null once it is closed. */
  readonly endTime: number | null;
  /** Null until it is closed. */
  readonly closeTime: number | null;
  /** Since when uses were recorded at its creation; null if they were not. */
  readonly recordedTime: number | null;
  readonly keptUnconfirmed: boolean;
  readonly itemCount: number;
}

/** An item of a review: a role binding as it was, and the decision. */
export interface AccessReviewItemRow {
  readonly reviewUid: string;
  readonly roleBindingUid: string;
  readonly identityUid: string;
  readonly roleUid: string;
  /** Empty for people who had not joined the organization. */
  readonly identityName: string;
  readonly groupName: string;
  readonly roleName: string;
  readonly createTime: number;
  readonly startTime: number | null;
  readonly expireTime: number | null;
  readonly lastUseTime: number | null;
  readonly usedCapabilityCount: number;
  readonly capabilityCount: number;
  readonly observedTime: number | null;
  readonly delegationCount: number;
  readonly decision: ItemDecision;
  /** Empty if nobody decided. */
  readonly reviewerUid: string;
  readonly comment: string;
  readonly decideTime: number | null;
}

/** The columns of an item that a decision sets. */
export type DecidedItem = Pick<
  AccessReviewItemRow,
  "roleBindingUid" | "decision" | "reviewerUid" | "comment" | "decideTime"
>;
