// Deletes role bindings of people as a part of another call.
import { RoleBindingsService } from "../../../../gen/chainguard/platform/iam/v2beta1/role_bindings_pb.ts";
import { methodPath } from "../../../pipeline/compose.ts";
import { deleteRow } from "../../../storage/collection/rows.ts";
import type { Transaction } from "../../../storage/engine/session.ts";
import { roleBindingCollection } from "../../../storage/iam/collections.ts";
import type { RoleBindingRow } from "../../../storage/iam/rows.ts";

/** The deletion of a binding is logged under the method that usually deletes it, whose event subscribers know. */
const deletion = methodPath(RoleBindingsService.method.deleteRoleBinding);

/** Deletes a binding in the name of the caller. */
export async function deleteBinding(tx: Transaction, binding: RoleBindingRow): Promise<void> {
  const { actor, actorClaims, requestId } = tx.context;
  await deleteBy(tx, binding, { actor, actorClaims, requestId });
}

/** Deletes a binding of a person who has not joined the organization. The change log does not say who did it. */
export async function deleteUnnoticed(tx: Transaction, binding: RoleBindingRow): Promise<void> {
  await deleteBy(tx, binding, { actor: "", requestId: "" });
}

async function deleteBy(
  tx: Transaction,
  binding: RoleBindingRow,
  author: Pick<Transaction["context"], "actor" | "actorClaims" | "requestId">,
): Promise<void> {
  const by = { ...author, method: deletion };
  await deleteRow({ ...tx, logChange: (entry) => tx.logChange({ ...entry, by }) }, roleBindingCollection, binding);
}
