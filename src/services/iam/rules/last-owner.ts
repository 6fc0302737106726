import { Capability } from "../../../../gen/chainguard/capabilities/capabilities_pb.ts";
import { failedPrecondition } from "../../../aip/errors.ts";
import { ownerRole } from "../../../authz/built-in-roles.ts";
import { accessOf } from "../../../pipeline/authorize.ts";
import type { Call } from "../../../pipeline/call.ts";
import { lockRow } from "../../../storage/collection/rows.ts";
import type { Transaction } from "../../../storage/engine/session.ts";
import { groupCollection } from "../../../storage/iam/collections.ts";
import { effectiveGroup } from "../../../storage/iam/grants.ts";
import { isHeldOtherwise } from "../../../storage/iam/role-bindings.ts";
import type { RoleBindingRow } from "../../../storage/iam/rows.ts";

/** Whether the binding gives a root group an owner. */
export function givesOwner({ parent, roleUid, identityUid }: RoleBindingRow): boolean {
  return roleUid === ownerRole.uid && !parent.includes("/") && effectiveGroup(identityUid, parent) === parent;
}

/**
 * An organization keeps an owner: throws LAST_OWNER when the binding is the last that gives one to a root group. The error names the
 * organization only to callers who can see it: an identity may own organizations that its administrators know nothing of.
 */
export async function refuseLastOwner(tx: Transaction, binding: RoleBindingRow, call: Call): Promise<void> {
  if (!givesOwner(binding)) return;
  // One after the other: of two owners who leave at once, the second must see that the first is gone.
  await lockRow(tx, groupCollection, binding.parent);
  if (await isHeldOtherwise(tx, binding.parent, ownerRole.uid, binding.uid)) return;
  if (accessOf(call).has(Capability.CAP_IAM_GROUPS_LIST, binding.parent))
    throw failedPrecondition(reason, "an organization must keep an owner; bind another one first", binding.parent);
  throw failedPrecondition(
    reason,
    "the identity is the last owner of an organization that you cannot see, which must keep one",
    binding.identityUid,
  );
}

const reason = "LAST_OWNER";
