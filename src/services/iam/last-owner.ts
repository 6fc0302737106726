import { failedPrecondition } from "../../aip/errors.ts";
import { ownerRole } from "../../authz/built-in-roles.ts";
import { isHeldOtherwise } from "../../storage/grants.ts";
import type { Session } from "../../storage/session.ts";
import type { RoleBindingRow } from "./rows.ts";

/** An organization keeps an owner: throws when the binding is the last that gives one to a root group. */
export async function refuseLastOwner(session: Session, binding: RoleBindingRow): Promise<void> {
  const isOwnerOfRoot = binding.roleUid === ownerRole.uid && !binding.parent.includes("/");
  if (isOwnerOfRoot && !(await isHeldOtherwise(session, binding.parent, ownerRole.uid, binding.uid))) {
    throw failedPrecondition(
      "LAST_OWNER",
      "an organization must keep an owner; bind another one first",
      binding.parent,
    );
  }
}
