// Deletes role bindings for callers.
import { Capability } from "../../../../gen/chainguard/capabilities/capabilities_pb.ts";
import { callerOf, requireCapability } from "../../../pipeline/authorize.ts";
import type { Call } from "../../../pipeline/call.ts";
import { deleteRow } from "../../../storage/collection/rows.ts";
import type { Transaction } from "../../../storage/engine/session.ts";
import { roleBindingCollection } from "../../../storage/iam/collections.ts";
import type { RoleBindingRow } from "../../../storage/iam/rows.ts";
import { refuseLastOwner } from "../rules/last-owner.ts";
import { deleteUnnoticed } from "../users/binding-deletion.ts";
import { isKnownAt } from "../users/membership.ts";
import { deleteUnusedPendingUser } from "../users/pending-users.ts";

/** Deletes a binding. Throws LAST_OWNER if the organization would be left without an owner. */
export async function deleteFor(tx: Transaction, row: RoleBindingRow, call: Call): Promise<void> {
  if (call.ownBinding === row.uid) return await deleteOwn(tx, row, call);
  await refuseLastOwner(tx, row, call);
  await deleteRow(tx, roleBindingCollection, row);
  await deleteUnusedPendingUser(tx, row.identityUid);
}

/**
 * Deletes a binding of the calling person. Who has not joined the organization does not count as its owner, and the change log does
 * not say who it was.
 */
async function deleteOwn(tx: Transaction, row: RoleBindingRow, call: Call): Promise<void> {
  const { uid } = callerOf(call);
  // The binding may have been given to another identity since the call was allowed.
  if (row.identityUid !== uid) requireCapability(call, Capability.CAP_IAM_ROLE_BINDINGS_DELETE, row.uid);
  const isKnown = await isKnownAt(tx, uid, row.parent);
  if (!isKnown) return await deleteUnnoticed(tx, row);
  await refuseLastOwner(tx, row, call);
  await deleteRow(tx, roleBindingCollection, row);
}
