import { failedPrecondition } from "../../aip/errors.ts";
import { ownerRole } from "../../authz/built-in-roles.ts";
import { lockRow } from "../../storage/collection.ts";
import { placeOfBinding } from "../../storage/grants.ts";
import { isHeldOtherwise } from "../../storage/role-bindings.ts";
import type { Transaction } from "../../storage/session.ts";
import { groupCollection, type RoleBindingRow } from "./rows.ts";

/** Whether the binding gives a root group an owner. */
export function givesOwner({ parent, roleUid, identityUid }: RoleBindingRow): boolean {
  return roleUid === ownerRole.uid && !parent.includes("/") && placeOfBinding(identityUid, parent) === parent;
}

/** An organization keeps an owner: throws when the binding is the last that gives one to a root group. */
export async function refuseLastOwner(tx: Transaction, binding: RoleBindingRow): Promise<void> {
  if (!givesOwner(binding)) return;
  // One after the other: of two owners who leave at once, the second must see that the first is gone.
  await lockRow(tx, groupCollection, binding.parent);
  if (!(await isHeldOtherwise(tx, binding.parent, ownerRole.uid, binding.uid))) {
    throw failedPrecondition(
      "LAST_OWNER",
      "an organization must keep an owner; bind another one first",
      binding.parent,
    );
  }
}
