// Decides items of reviews. A decision needs what doing the same without a review would need.
import { Capability } from "../../../../gen/chainguard/capabilities/capabilities_pb.ts";
import {
  AccessReviewDecision,
  type AccessReviewItemDecision,
} from "../../../../gen/gatehouse/access/v1/access_reviews_pb.ts";
import { ApiError, Code, failedPrecondition, invalidArgument, permissionDenied } from "../../../aip/errors.ts";
import { newViolations } from "../../../aip/violations.ts";
import { parentOf } from "../../../model/uid.ts";
import { callerOf, requireCapability } from "../../../pipeline/authorize.ts";
import type { Call } from "../../../pipeline/call.ts";
import { findRows } from "../../../storage/collection/rows.ts";
import type { Session, Transaction } from "../../../storage/engine/session.ts";
import { roleBindingCollection } from "../../../storage/iam/collections.ts";
import { findDelegation } from "../../../storage/iam/delegations.ts";
import { reviewItemKind } from "../../../storage/iam/reviews/collections.ts";
import { findItemsOf, storeDecisions } from "../../../storage/iam/reviews/items.ts";
import { reviewStateAt } from "../../../storage/iam/reviews/queries.ts";
import type { AccessReviewItemRow, AccessReviewRow, ItemDecision } from "../../../storage/iam/reviews/rows.ts";
import type { RoleBindingRow } from "../../../storage/iam/rows.ts";
import { requireBindable, requireReferences } from "../../iam/role-bindings/role-binding-rules.ts";
import { noEnd, requireHeld } from "../../iam/rules/escalation.ts";
import { refuseLastOwner } from "../../iam/rules/last-owner.ts";
import { deleteBinding } from "../../iam/users/binding-deletion.ts";
import { hasEnded } from "../../iam/users/ended-bindings.ts";
import { deleteUnusedPendingUser } from "../../iam/users/pending-users.ts";
import { peopleBehind } from "../../iam/users/people-behind.ts";
import { isUserUid } from "../../iam/users/user-uid.ts";
import { reviewLimits } from "./review-checks.ts";

/** Decides items of a review that is locked. Returns them as they are stored then, in the order of the decisions. */
export async function decideItems(
  tx: Transaction,
  review: AccessReviewRow,
  decisions: readonly AccessReviewItemDecision[],
  call: Call,
): Promise<AccessReviewItemRow[]> {
  requireOpen(tx, review);
  requireReviewer(review, call);
  const uids = decisions.map(({ roleBindingUid }) => roleBindingUid);
  const items = new Map((await findItemsOf(tx, review.uid, uids)).map((item) => [item.roleBindingUid, item]));
  requireItems(decisions, items);
  const bindings = new Map((await findRows(tx, roleBindingCollection, uids)).map((row) => [row.uid, row]));
  const requireDecider = newDecider(tx, review, call);
  const decided: AccessReviewItemRow[] = [];
  for (const { roleBindingUid, decision, comment } of decisions) {
    const item = items.get(roleBindingUid)!;
    try {
      requirePending(item);
      await requireDecider.notOwn(item.identityUid);
      const found = stateOf(tx, item, bindings.get(roleBindingUid));
      const outcome = found ?? (await requireDecider.decide(bindings.get(roleBindingUid)!, decision));
      const reviewerUid = callerOf(call).uid;
      decided.push({ ...item, decision: outcome, reviewerUid, comment, decideTime: tx.termTime() });
    } catch (error) {
      throw about(error, roleBindingUid);
    }
  }
  await storeDecisions(tx, review.uid, decided);
  for (const after of decided) logDecision(tx, review, items.get(after.roleBindingUid)!, after);
  return decided;
}

/** Returns the decision about a role binding that is not any more as its review lists it; undefined for all others. */
export function stateOf(
  session: Session,
  { identityUid, roleUid }: AccessReviewItemRow,
  binding: RoleBindingRow | undefined,
): "GONE" | "CHANGED" | undefined {
  if (!binding || hasEnded(session, binding)) return "GONE";
  return binding.identityUid === identityUid && binding.roleUid === roleUid ? undefined : "CHANGED";
}

/** Returns the functions that check, and carry out, the decisions of the caller. */
function newDecider(tx: Transaction, review: AccessReviewRow, call: Call) {
  const checked = new Set<string>();
  const owners = new Map<string, boolean>();

  async function confirm(binding: RoleBindingRow): Promise<ItemDecision> {
    const { uid, parent, roleUid, identityUid, expireTime } = binding;
    if (review.reviewerIdentityUids.length === 0) requireCapability(call, Capability.CAP_IAM_ROLE_BINDINGS_DELETE, uid);
    requireCapability(call, Capability.CAP_IAM_ROLE_BINDINGS_CREATE, parent);
    await requireBindable(tx, identityUid, parent, call);
    const key = `${parent} ${roleUid} ${expireTime}`;
    if (checked.has(key)) return "CONFIRMED";
    const end = expireTime ?? noEnd;
    requireHeld(call, [Capability.CAP_IAM_ROLE_BINDINGS_CREATE], parent, "the confirmation", { end });
    await requireReferences(tx, binding, parent, call, binding);
    checked.add(key);
    return "CONFIRMED";
  }

  async function revoke(binding: RoleBindingRow): Promise<ItemDecision> {
    requireCapability(call, Capability.CAP_IAM_ROLE_BINDINGS_DELETE, binding.uid);
    await refuseLastOwner(tx, binding, call);
    await deleteBinding(tx, binding);
    await deleteUnusedPendingUser(tx, binding.identityUid);
    return "REVOKED";
  }

  return {
    decide: (binding: RoleBindingRow, decision: AccessReviewDecision) =>
      decision === AccessReviewDecision.CONFIRMED ? confirm(binding) : revoke(binding),

    /** Throws OWN_BINDING for what the caller holds. */
    async notOwn(identityUid: string): Promise<void> {
      const isOwn = owners.get(identityUid) ?? (await isOwnIdentity(tx, identityUid, call));
      owners.set(identityUid, isOwn);
      if (isOwn)
        throw new ApiError(Code.PERMISSION_DENIED, "Permission denied: nobody decides about their own role binding", {
          reason: "OWN_BINDING",
        });
    },
  };
}

/**
 * Whether an identity and the caller are the same, or one of them is a person behind the other: as the bearer of its token, or as the one
 * who chose its static keys.
 */
async function isOwnIdentity(session: Session, identityUid: string, call: Call): Promise<boolean> {
  const { uid, token } = callerOf(call);
  if (identityUid === uid || peopleBehind(token).includes(identityUid)) return true;
  const makers = async (workload: string) =>
    isUserUid(workload) ? undefined : (await findDelegation(session, "identities", workload))?.makerUid;
  return (await makers(identityUid)) === uid || (await makers(uid)) === identityUid;
}

/** Throws INVALID_ARGUMENT unless each decision is about another role binding, and there are not too many. */
export function requireDistinct(decisions: readonly AccessReviewItemDecision[]): void {
  const violations = newViolations();
  const { maxDecisions } = reviewLimits;
  if (decisions.length > maxDecisions) violations.add("decisions", `must not have more than ${maxDecisions} items`);
  const seen = new Set<string>();
  for (const [i, { roleBindingUid, decision }] of decisions.slice(0, maxDecisions).entries()) {
    if (seen.has(roleBindingUid)) violations.add(`decisions[${i}].role_binding_uid`, "must not be there twice");
    seen.add(roleBindingUid);
    if (decision !== AccessReviewDecision.CONFIRMED && decision !== AccessReviewDecision.REVOKED)
      violations.add(`decisions[${i}].decision`, "must be CONFIRMED or REVOKED");
  }
  violations.throwIfAny();
}

function requireItems(
  decisions: readonly AccessReviewItemDecision[],
  items: ReadonlyMap<string, AccessReviewItemRow>,
): void {
  const missing = decisions.flatMap(({ roleBindingUid }, i) =>
    items.has(roleBindingUid)
      ? []
      : [{ field: `decisions[${i}].role_binding_uid`, description: "is not a role binding of the review" }],
  );
  if (missing.length > 0) throw invalidArgument(missing);
}

/** Throws REVIEW_NOT_OPEN unless items of a review can be decided. */
export function requireOpen(session: Session, review: AccessReviewRow): void {
  if (reviewStateAt(review, session.termTime()) !== "OPEN")
    throw failedPrecondition("REVIEW_NOT_OPEN", "the review was closed, or its due time is past", review.uid);
}

function requireReviewer({ reviewerIdentityUids: named }: AccessReviewRow, call: Call): void {
  if (named.length > 0 && !named.includes(callerOf(call).uid))
    throw permissionDenied("the caller is not one of the reviewers of the review");
}

function requirePending({ roleBindingUid, decision }: AccessReviewItemRow): void {
  if (decision === "PENDING") return;
  const shown = decision.toLowerCase().replaceAll("_", " ");
  throw failedPrecondition("REVIEW_ITEM_DECIDED", `the item is decided already: ${shown}`, roleBindingUid);
}

/** Returns an error that says which role binding it is about. */
function about(error: unknown, roleBindingUid: string): unknown {
  if (!(error instanceof ApiError)) return error;
  const { code, message, details, reason, metadata } = error;
  return new ApiError(code, message, {
    details,
    reason,
    metadata: { ...metadata, role_binding_uid: roleBindingUid },
    cause: error,
  });
}

function logDecision(
  tx: Transaction,
  { uid, parent }: AccessReviewRow,
  before: AccessReviewItemRow,
  after: AccessReviewItemRow,
): void {
  tx.logChange({
    kind: reviewItemKind,
    // The last segment of the role binding, below the review.
    uid: uid + after.roleBindingUid.slice(parentOf(after.roleBindingUid).length),
    groupUid: parent,
    before,
    after,
  });
}
