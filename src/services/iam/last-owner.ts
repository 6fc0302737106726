import { failedPrecondition } from "../../aip/errors.ts";
import { ownerRole } from "../../authz/built-in-roles.ts";
import { lockRow } from "../../storage/collection.ts";
import { isHeldOtherwise } from "../../storage/grants.ts";
import type { Transaction } from "../../storage/session.ts";
import { groupCollection, type RoleBindingRow } from "./rows.ts";

/** An organization keeps an owner: throws when the binding is the last that gives one to a root group. */
export async function refuseLastOwner(tx: Transaction, binding: RoleBindingRow): Promise<void> {
  if (binding.roleUid !== ownerRole.uid || binding.parent.includes("/")) return;
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
