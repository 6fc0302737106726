// The values of a rule of access requests in its form.
import type { MessageInitShape } from "@bufbuild/protobuf";
import { durationFromMs, durationMs } from "@bufbuild/protobuf/wkt";
import type {
  AccessRequestRule,
  AccessRequestRuleSchema,
} from "../../../../gen/gatehouse/access/v1/access_request_rules_pb.ts";
import { dayMs, hourMs } from "../../api/durations.ts";

/** The values. Lengths of time are in milliseconds. */
export interface RuleDraft {
  readonly name: string;
  readonly description: string;
  readonly roleUids: string[];
  readonly maxDuration: number;
  readonly decisionTime: number;
  readonly requiredApprovals: number;
  readonly eligibleRoleUids: string[];
  readonly eligibleIdentityUids: string[];
  readonly approverRoleUids: string[];
  readonly approverIdentityUids: string[];
  readonly reasonPattern: string;
  readonly breakGlass: boolean;
}

/** The names of the fields in the API. */
export const fieldNames = [
  "name",
  "description",
  "role_uids",
  "max_duration",
  "decision_time",
  "required_approvals",
  "eligible_role_uids",
  "eligible_identity_uids",
  "approver_role_uids",
  "approver_identity_uids",
  "reason_pattern",
  "break_glass",
] as const;

/** The values of a new rule: those that the server takes for absent ones. */
export const newDraft: RuleDraft = {
  name: "",
  description: "",
  roleUids: [],
  maxDuration: 8 * hourMs,
  decisionTime: dayMs,
  requiredApprovals: 1,
  eligibleRoleUids: [],
  eligibleIdentityUids: [],
  approverRoleUids: [],
  approverIdentityUids: [],
  reasonPattern: "",
  breakGlass: false,
};

/** Returns the values of a rule. */
export function draftOf(rule: AccessRequestRule): RuleDraft {
  const { name, description, roleUids, eligibleRoleUids, eligibleIdentityUids, reasonPattern, breakGlass } = rule;
  const { approverRoleUids, approverIdentityUids, requiredApprovals = newDraft.requiredApprovals } = rule;
  return {
    name,
    description,
    roleUids,
    maxDuration: rule.maxDuration ? durationMs(rule.maxDuration) : newDraft.maxDuration,
    decisionTime: rule.decisionTime ? durationMs(rule.decisionTime) : newDraft.decisionTime,
    requiredApprovals,
    eligibleRoleUids,
    eligibleIdentityUids,
    approverRoleUids,
    approverIdentityUids,
    reasonPattern,
    breakGlass,
  };
}

/** Returns the rule with the values. */
export function ruleOf(draft: RuleDraft): MessageInitShape<typeof AccessRequestRuleSchema> {
  const { maxDuration, decisionTime, ...rest } = draft;
  return { ...rest, maxDuration: durationFromMs(maxDuration), decisionTime: durationFromMs(decisionTime) };
}

/** Returns the values as a person compares them, by the names of their fields. */
export function valuesOf(draft: RuleDraft): Readonly<Record<(typeof fieldNames)[number], string>> {
  const list = (uids: readonly string[]) => [...uids].sort().join(", ");
  return {
    name: draft.name,
    description: draft.description,
    role_uids: list(draft.roleUids),
    max_duration: `${draft.maxDuration / 1000}s`,
    decision_time: `${draft.decisionTime / 1000}s`,
    required_approvals: String(draft.requiredApprovals),
    eligible_role_uids: list(draft.eligibleRoleUids),
    eligible_identity_uids: list(draft.eligibleIdentityUids),
    approver_role_uids: list(draft.approverRoleUids),
    approver_identity_uids: list(draft.approverIdentityUids),
    reason_pattern: draft.reasonPattern,
    break_glass: String(draft.breakGlass),
  };
}
