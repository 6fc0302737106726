// Decides requests. Every approval counts all of them again, because an approver may have lost the right since.
import { ApiError, Code, failedPrecondition, permissionDenied, resourceExhausted } from "../../../aip/errors.ts";
import { callerOf } from "../../../pipeline/authorize.ts";
import type { Call } from "../../../pipeline/call.ts";
import { updateRow } from "../../../storage/collection/rows.ts";
import type { Session, Transaction } from "../../../storage/engine/session.ts";
import { findDelegation } from "../../../storage/iam/delegations.ts";
import { accessRequestCollection, closed } from "../../../storage/iam/requests/collections.ts";
import type { AccessRequestRow, AccessRequestRuleRow } from "../../../storage/iam/requests/rows.ts";
import type { StoredDecision } from "../../../storage/schema/tables/access-requests.ts";
import { noEnd, outlivesReason } from "../rules/escalation.ts";
import { activate } from "./activation.ts";
import { findHolder, isApprover } from "./eligibility.ts";
import { requireGrantable } from "./grantable.ts";

/** The maximum number of decisions about a request. */
const maxDecisions = 20;

/** A request with its rule, which is undefined if it was deleted. */
export interface RuledRequest {
  readonly row: AccessRequestRow;
  readonly rule: AccessRequestRuleRow | undefined;
}

/** The decision of the caller. */
interface Verdict {
  readonly isApproval: boolean;
  readonly comment: string;
}

/** Records the decision of the caller about a pending request. The last required approval gives the role. Returns the stored request. */
export async function decide(
  tx: Transaction,
  { row, rule }: RuledRequest,
  { isApproval, comment }: Verdict,
  call: Call,
): Promise<AccessRequestRow> {
  const { uid: approverUid, token } = callerOf(call);
  const { mappings = [] } = token;
  const time = tx.termTime();
  await requireApprover(tx, { row, rule }, call, isApproval ? time + row.duration : time);
  requirePending(tx, row);
  const decision: StoredDecision = { approverUid, isApproval, comment, time, counts: true, mappings };
  const earlier = await recount(tx, row, rule!);
  if (earlier.some((each) => each.approverUid === approverUid && each.counts))
    throw failedPrecondition("REQUEST_DECIDED", "the caller has approved the request already", row.uid);
  const decisions = [...earlier.filter((each) => each.approverUid !== approverUid), decision];
  if (decisions.length > maxDecisions) throw resourceExhausted(`a request has at most ${maxDecisions} decisions`);
  const after = await next(tx, { ...row, decisions }, rule!, call);
  return await updateRow(tx, accessRequestCollection, row, after);
}

/** Returns a request after its latest decision: denied, active, or still pending. */
async function next(tx: Transaction, row: AccessRequestRow, rule: AccessRequestRuleRow, call: Call) {
  if (!row.decisions.at(-1)!.isApproval) return closed(row, "DENIED", tx.termTime());
  if (row.decisions.filter(({ counts }) => counts).length < rule.requiredApprovals) return row;
  await requireGrantable(tx, row, rule);
  return await activate(tx, row, call);
}

/** Returns the decisions so far, each with whether it counts now. */
async function recount(session: Session, row: AccessRequestRow, rule: AccessRequestRuleRow): Promise<StoredDecision[]> {
  const counted: StoredDecision[] = [];
  for (const decision of row.decisions) {
    const holder = await findHolder(session, decision.approverUid, decision.mappings);
    const end = session.termTime() + row.duration;
    const counts = holder !== undefined && (await isApprover(session, rule, row.parent, holder, end));
    counted.push({ ...decision, counts });
  }
  return counted;
}

/** Throws unless the caller may decide about a request whose role ends by then. */
async function requireApprover(session: Session, { row, rule }: RuledRequest, call: Call, end: number): Promise<void> {
  if (await isOwn(session, row, callerOf(call).uid))
    throw new ApiError(Code.PERMISSION_DENIED, "Permission denied: nobody decides about their own request", {
      reason: "OWN_REQUEST",
    });
  if (await mayDecide(session, { row, rule }, call, end)) return;
  if (await mayDecide(session, { row, rule }, call))
    throw new ApiError(
      Code.PERMISSION_DENIED,
      "Permission denied: the right of the caller to approve ends too early for this request",
      { reason: outlivesReason },
    );
  throw permissionDenied("the caller is not one of the people who may decide about the request");
}

/** Whether the rule of a request lets the caller decide about it, for a role that ends by then. */
export async function mayDecide(
  session: Session,
  { row, rule }: RuledRequest,
  call: Call,
  end = session.termTime(),
): Promise<boolean> {
  const { uid, token } = callerOf(call);
  const holder = await findHolder(session, uid, token.mappings ?? []);
  return holder !== undefined && (await isApprover(session, rule, row.parent, holder, end));
}

/** Records that the caller has acknowledged a break-glass request. Returns the stored request. */
export async function acknowledge(
  tx: Transaction,
  { row, rule }: RuledRequest,
  comment: string,
  call: Call,
): Promise<AccessRequestRow> {
  // The role may have given other people the right to approve, which ends with it: they do not acknowledge how they got it.
  await requireApprover(tx, { row, rule }, call, noEnd);
  if (!row.breakGlass || row.acknowledgeTime !== null)
    throw failedPrecondition(
      "NOTHING_TO_ACKNOWLEDGE",
      row.breakGlass ? "the request has been acknowledged already" : "the request did not use break-glass",
      row.uid,
    );
  return await updateRow(tx, accessRequestCollection, row, {
    ...row,
    acknowledgeTime: tx.termTime(),
    acknowledgerUid: callerOf(call).uid,
    acknowledgeComment: comment,
  });
}

/** Whether a person is behind a request: as its identity, behind its token, or as the one who knows the static keys of its identity. */
export async function isOwn(session: Session, { identityUid, session: made }: AccessRequestRow, uid: string) {
  if (identityUid === uid || made.people.includes(uid)) return true;
  return (await findDelegation(session, "identities", identityUid))?.makerUid === uid;
}

/** Throws REQUEST_DECIDED unless a request waits for decisions, and has time left. */
export function requirePending(session: Session, { uid, state, dueTime }: AccessRequestRow): void {
  if (state === "PENDING" && dueTime! > session.termTime()) return;
  const shown = state === "PENDING" ? "expired" : state.toLowerCase();
  throw failedPrecondition("REQUEST_DECIDED", `the request is not pending any more: it is ${shown}`, uid);
}
