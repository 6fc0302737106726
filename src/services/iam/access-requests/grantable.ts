// Checks whether a request may give its role now: when it is made, and again with the last approval.
import { durationMs } from "@bufbuild/protobuf/wkt";
import type { AccessRequest } from "../../../../gen/gatehouse/access/v1/access_requests_pb.ts";
import { ApiError, Code, failedPrecondition } from "../../../aip/errors.ts";
import { isWithin } from "../../../model/uid.ts";
import type { Session } from "../../../storage/engine/session.ts";
import { findRulesAt } from "../../../storage/iam/requests/queries.ts";
import type { AccessRequestRow, AccessRequestRuleRow } from "../../../storage/iam/requests/rows.ts";
import type { RoleBindingRow } from "../../../storage/iam/rows.ts";
import { endOf, inactive, requireInForce } from "../delegations/inactive-delegations.ts";
import { findHolder, type Holder, isEligible } from "./eligibility.ts";

/** The parts of a request that decide by which rule it is made. */
export type Wanted = Pick<AccessRequest, "ruleUid" | "roleUid" | "duration" | "breakGlass"> & {
  readonly groupUid: string;
};

/**
 * Returns the rule by which an identity may request a role at a group: the nearest one, and of these the one with the fewest approvals.
 * Throws NOT_ELIGIBLE if there is none.
 */
export async function requireRuleFor(session: Session, wanted: Wanted, holder: Holder): Promise<AccessRequestRuleRow> {
  const { ruleUid, roleUid, groupUid, breakGlass } = wanted;
  const now = session.termTime();
  const fitting: AccessRequestRuleRow[] = [];
  for (const rule of await findRulesAt(session, lineOf(groupUid)))
    if (
      (ruleUid === "" || rule.uid === ruleUid) &&
      rule.roleUids.includes(roleUid) &&
      (rule.breakGlass || !breakGlass) &&
      (await isEligible(session, rule, groupUid, holder, now + durationBy(rule, wanted)))
    )
      fitting.push(rule);
  const [best] = fitting.sort(byPreference);
  if (!best)
    throw notEligible(
      breakGlass
        ? "no rule lets the caller take this role at this group by break-glass"
        : "no rule lets the caller request this role at this group for this time",
    );
  return best;
}

/** Returns how long a role is requested: as long as the rule allows, unless the request says less. In milliseconds. */
function durationBy({ maxDuration }: AccessRequestRuleRow, { duration }: Pick<Wanted, "duration">): number {
  return duration ? Math.min(durationMs(duration), maxDuration) : maxDuration;
}

/** Orders rules: the nearest first, and of these the one with the fewest approvals. */
export function byPreference(a: AccessRequestRuleRow, b: AccessRequestRuleRow): number {
  return b.parent.length - a.parent.length || a.requiredApprovals - b.requiredApprovals || (a.uid < b.uid ? -1 : 1);
}

/** Returns a group and its ancestors. */
export function lineOf(groupUid: string): string[] {
  const segments = groupUid.split("/");
  return segments.map((_, i) => segments.slice(0, i + 1).join("/"));
}

/** Throws unless the maker of the rule vouches for it, without an end, and the requester may still request by it. */
export async function requireGrantable(
  session: Session,
  { parent, identityUid, roleUid, duration, session: made }: AccessRequestRow,
  rule: AccessRequestRuleRow,
): Promise<void> {
  const holder = await findHolder(session, identityUid, made.mappings);
  const isOffered = rule.roleUids.includes(roleUid) && duration <= rule.maxDuration && isWithin(parent, rule.parent);
  const end = session.termTime() + duration;
  if (!holder || !isOffered || !(await isEligible(session, rule, parent, holder, end)))
    throw notEligible("the requester may not request this any more");
  await requireInForce(session, "access_request_rules", rule.uid);
  // A role that the maker has for a time only would last longer by a request.
  if ((await endOf(session, "access_request_rules", rule.uid)) !== null)
    throw inactive("access_request_rules", rule.uid, { reason: "MAKER_LACKS_CAPABILITIES", capabilities: [] });
}

/** Throws ALREADY_HELD if the identity has the role at the group without an end, or from a later time on. */
export function requireNotHeld(binding: RoleBindingRow | undefined, now: number): void {
  if (!binding) return;
  const { uid, startTime, expireTime } = binding;
  if (startTime !== null && startTime > now)
    throw failedPrecondition(
      "ALREADY_HELD",
      `the identity has this role at this group from ${new Date(startTime).toISOString()} on; change its term`,
      uid,
    );
  if (expireTime === null)
    throw failedPrecondition("ALREADY_HELD", "the identity has this role at this group without an end", uid);
}

function notEligible(description: string): ApiError {
  return new ApiError(Code.PERMISSION_DENIED, `Permission denied: ${description}`, { reason: "NOT_ELIGIBLE" });
}
