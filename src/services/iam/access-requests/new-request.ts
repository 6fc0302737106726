import { durationMs } from "@bufbuild/protobuf/wkt";
import type { AccessRequest } from "../../../../gen/gatehouse/access/v1/access_requests_pb.ts";
import { invalidField, notFound, permissionDenied, resourceExhausted } from "../../../aip/errors.ts";
import { newChild } from "../../../model/uid.ts";
import { callerOf } from "../../../pipeline/authorize.ts";
import type { Call } from "../../../pipeline/call.ts";
import { insertRow, lockRow } from "../../../storage/collection/rows.ts";
import type { Transaction } from "../../../storage/engine/session.ts";
import { groupCollection, identityCollection } from "../../../storage/iam/collections.ts";
import { accessRequestCollection } from "../../../storage/iam/requests/collections.ts";
import { countPendingAt, findOpenRequestsOf } from "../../../storage/iam/requests/queries.ts";
import type { AccessRequestRow, AccessRequestRuleRow } from "../../../storage/iam/requests/rows.ts";
import { findBinding } from "../../../storage/iam/role-bindings.ts";
import { matchesWhole } from "../../../sts/patterns/patterns.ts";
import { newStepBudget } from "../../../sts/patterns/step-budget.ts";
import { groupParents } from "../groups/groups.ts";
import { hasEnded } from "../users/ended-bindings.ts";
import { acceptByCall } from "../users/membership.ts";
import { peopleBehind } from "../users/people-behind.ts";
import { activate } from "./activation.ts";
import { findHolder } from "./eligibility.ts";
import { requireGrantable, requireNotHeld, requireRuleFor } from "./grantable.ts";

/** How many requests may be pending. */
export const pendingLimits = { ofIdentity: 20, ofGroup: 200 } as const;

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
  await requireFewPending(tx, row);
  await acceptByCall(tx, call, groupUid);
  await requireGrantable(tx, row, rule);
  const binding = await findBinding(tx, groupUid, row.roleUid, uid);
  if (binding && !hasEnded(tx, binding)) requireNotHeld(binding, tx.termTime());
  const made = rule.requiredApprovals === 0 ? await activate(tx, row, call) : row;
  await insertRow(tx, accessRequestCollection, made);
  return made;
}

function newRow(
  tx: Transaction,
  parent: string,
  { roleUid, reason, duration: wanted }: AccessRequest,
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
    createTime: tx.context.time,
  };
}

async function requireFewPending(tx: Transaction, { identityUid, parent }: AccessRequestRow): Promise<void> {
  const open = await findOpenRequestsOf(tx, "identityUid", identityUid);
  if (open.filter(({ state }) => state === "PENDING").length >= pendingLimits.ofIdentity)
    throw resourceExhausted(
      `an identity may have at most ${pendingLimits.ofIdentity} pending requests; cancel one first`,
    );
  if ((await countPendingAt(tx, parent)) >= pendingLimits.ofGroup)
    throw resourceExhausted(`a group may have at most ${pendingLimits.ofGroup} pending requests`);
}
