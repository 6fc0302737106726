// The rows of access requests and their rules.
import type { ResourceRow } from "../../collection/collection.ts";
import type { StoredDecision, StoredSession } from "../../schema/tables/access-requests.ts";

/** A rule of access requests as it is stored. Durations are in milliseconds. */
export interface AccessRequestRuleRow extends ResourceRow {
  readonly parent: string;
  readonly name: string;
  readonly description: string;
  readonly roleUids: readonly string[];
  readonly maxDuration: number;
  readonly decisionTime: number;
  readonly requiredApprovals: number;
  readonly eligibleRoleUids: readonly string[];
  readonly eligibleIdentityUids: readonly string[];
  readonly approverRoleUids: readonly string[];
  readonly approverIdentityUids: readonly string[];
  readonly reasonPattern: string;
  readonly breakGlass: boolean;
  readonly updateTime: number;
}

/** The states of a request. */
export type RequestState = "PENDING" | "ACTIVE" | "DENIED" | "CANCELLED" | "EXPIRED" | "ENDED";

/** An access request as it is stored. */
export interface AccessRequestRow extends ResourceRow {
  /** The uid of the group. */
  readonly parent: string;
  readonly ruleUid: string;
  readonly identityUid: string;
  readonly roleUid: string;
  /** In milliseconds. */
  readonly duration: number;
  readonly reason: string;
  readonly state: RequestState;
  readonly decisions: readonly StoredDecision[];
  readonly session: StoredSession;
  readonly decideBeforeTime: number;
  /** When a pending request expires and an active one ends; null for others. */
  readonly dueTime: number | null;
  readonly startTime: number | null;
  readonly expireTime: number | null;
  readonly roleBindingUid: string | null;
  /** The end that the binding has without any request; null if there is none. */
  readonly ownExpireTime: number | null;
  readonly breakGlass: boolean;
  /** Null until another person acknowledges the break-glass. */
  readonly acknowledgeTime: number | null;
  readonly acknowledgerUid: string | null;
  readonly acknowledgeComment: string | null;
  /** When the request reached its final state; null before. */
  readonly closeTime: number | null;
}
