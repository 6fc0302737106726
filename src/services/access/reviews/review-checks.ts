// The limits of access reviews, and the checks of requests.
import { type AccessReview, AccessReviewOnDue } from "../../../../gen/gatehouse/access/v1/access_reviews_pb.ts";
import type { FieldViolation } from "../../../aip/errors.ts";
import { fromTimestamp } from "../../../aip/timestamps.ts";
import { dayMs, hourMs } from "../../../base/clock.ts";
import type { TextRule } from "../../../pipeline/text-rules.ts";
import { checkVisible } from "../../../sts/claim-text.ts";
import { unusedDays } from "../unused-access.ts";

/** The limits of reviews. Times are in milliseconds. */
export const reviewLimits = {
  minTime: hourMs,
  maxTime: 180 * dayMs,
  maxItems: 20_000,
  /** Items of all reviews of an organization, with those that are closed. */
  maxItemsOfOrganization: 300_000,
  maxDecisions: 200,
  maxReviewers: 50,
  maxRoles: 20,
  maxTitle: 200,
} as const;

/** Titles: one line, which can be shown in a terminal and a table. */
export const titleRule: TextRule = {
  test: (text) => text !== "" && text.length <= reviewLimits.maxTitle && checkVisible(text) === undefined,
  description: "must be 1 to 200 characters without control characters or marks that change the direction of text",
  maxLength: reviewLimits.maxTitle,
};

/** Checks a new review without reading the database. Returns the violations. */
export function checkReview(review: AccessReview, now: number): FieldViolation[] {
  const { minTime, maxTime, maxReviewers, maxRoles } = reviewLimits;
  const ahead = review.dueTime ? fromTimestamp(review.dueTime) - now : minTime;
  const { least, most } = unusedDays;
  const days = review.unusedDays;
  return [
    ...violation("due_time", ahead < minTime || ahead > maxTime, "must be 1 hour to 180 days ahead"),
    ...violation("on_due", review.onDue === AccessReviewOnDue.UNSPECIFIED, "is required"),
    ...violation("unused_days", days !== 0 && (days < least || days > most), `must be from ${least} to ${most}, or 0`),
    ...violation("reviewer_identity_uids", review.reviewerIdentityUids.length > maxReviewers, atMost(maxReviewers)),
    ...violation("role_uids", review.roleUids.length > maxRoles, atMost(maxRoles)),
  ];
}

function atMost(limit: number): string {
  return `must have at most ${limit} items`;
}

function violation(field: string, isViolated: boolean, description: string): FieldViolation[] {
  return isViolated ? [{ field, description }] : [];
}
