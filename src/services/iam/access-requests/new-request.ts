import { durationMs } from "@bufbuild/protobuf/wkt";
import type { AccessRequest } from "../../../../gen/gatehouse/access/v1/access_requests_pb.ts";
import { invalidField, notFound, permissionDenied, resourceExhausted } from "../../../aip/errors.ts";
import { newChild } from "../../../model/uid.ts";
import { callerOf } from "../../../pipeline/authorize.ts";
import type { Call } from "../../../pipeline/call.ts";
import { loggedAs } from "../../../storage/collection/logged-as.ts";
import { insertRow, lockRow } from "../../../storage/collection/rows.ts";
import type { Transaction } from "../../../storage/engine/session.ts";
import { groupCollection, identityCollection } from "../../../storage/iam/collections.ts";
import { accessRequestCollection, breakGlassCause } from "../../../storage/iam/requests/collections.ts";
import { countPendingAt, countUnacknowledgedOf, findOpenRequestsOf } from "../../../storage/iam/requests/queries.ts";
import type { AccessRequestRow, AccessRequestRuleRow } from "../../../storage/iam/requests/rows.ts";
import { findBinding } from "../../../storage/iam/role-bindings.ts";
import { matchesWhole } from "../../../sts/patterns/patterns.ts";
import { newStepBudget } from "../../../sts/patterns/step-budget.ts";
import { groupParents } from "../groups/groups.ts";
import { hasEnded } from "../users/ended-bindings.ts";
import { acceptByCall } from "../users/membership.ts";
import { peopleBehind } from "../users/people-behind.ts";
import { isUserUid } from "../users/user-uid.ts";
import { activate } from "./activation.ts";
import { findHolder } from "./eligibility.ts";
import { requireGrantable, requireNotHeld, requireRuleFor } from "./grantable.ts";

/** How many requests may be pending, and how many break-glass requests of an identity may wait to be acknowledged. */
const openLimits = { ofIdentity: 20, ofGroup: 200, breakGlass: 20 } as const;

/** Enough steps for any reason and any pattern of a rule. */
const reasonSteps = 2_000_000;

/** Inserts a request of the caller. A rule without approvals gives the role at once. */
export async function insertRequest(
  tx: Transaction,
  groupUid: string,
  value: AccessRequest,
  call: Call,
): Promise<AccessRequestRow> {
  const { uid, token } = callerOf(call);
  if (value.breakGlass && !isUserUid(uid)) throw permissionDenied("only people who have signed in use break-glass");
  // Locked first: a concurrent request must see this one when it counts.
  const group = await lockRow(tx, groupCollection, groupUid);
  await lockRow(tx, identityCollection, uid);
  const session = { mappings: token.mappings ?? [], people: peopleBehind(token) };
  const holder = await findHolder(tx, uid, session.mappings);
  if (!holder) throw permissionDenied("the caller does not exist any more");
  const rule = await requireRuleFor(tx, { ...value, groupUid }, holder);
  // Only callers who may request there learn that there is no such group.
  if (!group) throw notFound(groupParents.type, groupUid);
  const row = newRow(tx, groupUid, value, rule, { identityUid: uid, session });
  await requireFewOpen(tx, row);
  await acceptByCall(tx, call, groupUid);
  await requireGrantable(tx, row, rule);
  const binding = await findBinding(tx, groupUid, row.roleUid, uid);
  if (binding && !hasEnded(tx, binding)) requireNotHeld(binding, tx.termTime());
  const isGivenAtOnce = rule.requiredApprovals === 0 || row.breakGlass;
  const made = isGivenAtOnce ? await activate(tx, row, call) : row;
  await insertRow(row.breakGlass ? loggedAs(tx, breakGlassCause) : tx, accessRequestCollection, made);
  return made;
}

function newRow(
  tx: Transaction,
  parent: string,
  { roleUid, reason, duration: wanted, breakGlass }: AccessRequest,
  rule: AccessRequestRuleRow,
  requester: Pick<AccessRequestRow, "identityUid" | "session">,
): AccessRequestRow {
  const { reasonPattern, maxDuration, decisionTime } = rule;
  if (reasonPattern !== "" && !matchesWhole(reasonPattern, reason, newStepBudget(reasonSteps)))
    throw invalidField("reason", `must match "${reasonPattern}"`);
  const duration = wanted ? durationMs(wanted) : maxDuration;
  if (duration > maxDuration) throw invalidField("duration", `must be at most ${maxDuration / 60_000} minutes`);
  const decideBeforeTime = tx.termTime() + decisionTime;
  return {
    uid: newChild(parent),
    parent,
    ruleUid: rule.uid,
    roleUid,
    duration,
    reason,
    ...requester,
    state: "PENDING",
    decisions: [],
    decideBeforeTime,
    dueTime: decideBeforeTime,
    startTime: null,
    expireTime: null,
    roleBindingUid: null,
    ownExpireTime: null,
    breakGlass,
    acknowledgeTime: null,
    acknowledgerUid: null,
    acknowledgeComment: null,
    closeTime: null,
    createTime: tx.context.time,
  };
}

/** Throws RESOURCE_EXHAUSTED for one request too many. Pending requests of a group do not block its emergencies. */
async function requireFewOpen(tx: Transaction, { identityUid, parent, breakGlass }: AccessRequestRow): Promise<void> {
  if (breakGlass) {
    if ((await countUnacknowledgedOf(tx, identityUid)) >= openLimits.breakGlass)
      throw resourceExhausted(
        `an identity may have at most ${openLimits.breakGlass} break-glass requests that nobody has acknowledged`,
      );
    return;
  }
  const open = await findOpenRequestsOf(tx, "identityUid", identityUid);
  if (open.filter(({ state }) => state === "PENDING").length >= openLimits.ofIdentity)
    throw resourceExhausted(`an identity may have at most ${openLimits.ofIdentity} pending requests; cancel one first`);
  if ((await countPendingAt(tx, parent)) >= openLimits.ofGroup)
    throw resourceExhausted(`a group may have at most ${openLimits.ofGroup} pending requests`);
}
