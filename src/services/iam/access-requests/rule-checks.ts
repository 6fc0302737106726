// The limits of rules of access requests, and the checks of their values.
import { type Duration, durationMs } from "@bufbuild/protobuf/wkt";
import type { AccessRequestRule } from "../../../../gen/gatehouse/access/v1/access_request_rules_pb.ts";
import type { FieldViolation } from "../../../aip/errors.ts";
import { dayMs, hourMs, minuteMs } from "../../../base/clock.ts";
import type { TextRule } from "../../../pipeline/text-rules.ts";
import { checkVisible } from "../../../sts/claim-text.ts";
import { checkPattern } from "../../../sts/patterns/patterns.ts";

/** The values of fields that are absent. Durations are in milliseconds. */
export const ruleDefaults = { maxDuration: 8 * hourMs, decisionTime: dayMs, requiredApprovals: 1 } as const;

/** The limits of rules. Durations are in milliseconds. */
const ruleLimits = {
  minTime: 5 * minuteMs,
  maxDuration: 30 * dayMs,
  maxDecisionTime: 14 * dayMs,
  maxApprovals: 5,
  maxRoles: 20,
  maxIdentities: 50,
} as const;

/** Comments: one line, which can be shown in a terminal, a table and a chat. */
export const commentRule: TextRule = {
  test: (text) => text.length <= 1000 && checkVisible(text) === undefined,
  description: "must be at most 1000 characters without control characters or marks that change the direction of text",
  maxLength: 1000,
};

/** Reasons, which are never empty. */
export const reasonRule: TextRule = {
  ...commentRule,
  test: (text) => text !== "" && commentRule.test(text),
  description: "must be 1 to 1000 characters without control characters or marks that change the direction of text",
};

/** Checks a rule without reading the database. Returns the violations. */
export function checkRule(rule: AccessRequestRule): FieldViolation[] {
  const { maxRoles, maxIdentities, maxApprovals, maxDuration, maxDecisionTime } = ruleLimits;
  const { requiredApprovals = 0, reasonPattern } = rule;
  return [
    ...atMost("role_uids", rule.roleUids, maxRoles),
    ...atMost("eligible_role_uids", rule.eligibleRoleUids, maxRoles),
    ...atMost("approver_role_uids", rule.approverRoleUids, maxRoles),
    ...atMost("eligible_identity_uids", rule.eligibleIdentityUids, maxIdentities),
    ...atMost("approver_identity_uids", rule.approverIdentityUids, maxIdentities),
    ...checkTime("max_duration", rule.maxDuration, maxDuration, "30 days"),
    ...checkTime("decision_time", rule.decisionTime, maxDecisionTime, "14 days"),
    ...violation(
      "eligible_role_uids",
      rule.eligibleRoleUids.length + rule.eligibleIdentityUids.length === 0
        ? "is required, or eligible_identity_uids: nobody may request"
        : undefined,
    ),
    ...violation(
      "approver_identity_uids",
      rule.approverIdentityUids.some((uid) => uid.includes("/"))
        ? "must be people: workloads approve nothing"
        : undefined,
    ),
    ...violation(
      "required_approvals",
      requiredApprovals < 0 || requiredApprovals > maxApprovals ? `must be 0 to ${maxApprovals}` : undefined,
    ),
    ...violation("reason_pattern", reasonPattern === "" ? undefined : checkPattern(reasonPattern, "claim")),
  ];
}

function atMost(field: string, items: readonly string[], limit: number): FieldViolation[] {
  return violation(field, items.length > limit ? `must have at most ${limit} items` : undefined);
}

function checkTime(field: string, value: Duration | undefined, limit: number, shown: string): FieldViolation[] {
  const time = value && durationMs(value);
  const isOutside = time !== undefined && !(time >= ruleLimits.minTime && time <= limit);
  return violation(field, isOutside ? `must be 5 minutes to ${shown}` : undefined);
}

function violation(field: string, description: string | undefined): FieldViolation[] {
  return description === undefined ? [] : [{ field, description }];
}
