// Role bindings whose term has ended. They grant nothing; background work deletes them, and so does any change that they would stand in
// the way of.
import { RoleBindingSchema } from "../../../../gen/chainguard/platform/iam/v2beta1/role_bindings_pb.ts";
import { RoleBindingTermsService } from "../../../../gen/gatehouse/access/v1/role_binding_terms_pb.ts";
import { notFound } from "../../../aip/errors.ts";
import { resourceType } from "../../../aip/resource-type.ts";
import { hasTerm, type Term } from "../../../model/grants.ts";
import { methodPath } from "../../../pipeline/compose.ts";
import { loggedAs, nobody } from "../../../storage/collection/logged-as.ts";
import { deleteRow, findRow, updateRow } from "../../../storage/collection/rows.ts";
import type { Session, Transaction } from "../../../storage/engine/session.ts";
import { runConcurrently } from "../../../storage/engine/shared-statements.ts";
import { roleBindingCollection } from "../../../storage/iam/collections.ts";
import { findBinding } from "../../../storage/iam/role-bindings.ts";
import type { RoleBindingRow } from "../../../storage/iam/rows.ts";
import { deleteUnusedPendingUser } from "./pending-users.ts";

/** The end of a binding is logged under this method. */
const ending = methodPath(RoleBindingTermsService.method.endRoleBindingTerm);

/** Whether a binding has ended. */
export function hasEnded({ termTime }: Pick<Session, "termTime">, { expireTime }: Term): boolean {
  return expireTime !== null && expireTime <= termTime();
}

/** Returns a binding. Throws NOT_FOUND if there is none, or if it has ended. */
export async function findOpen(session: Session, uid: string): Promise<RoleBindingRow> {
  const row = await findRow(session, roleBindingCollection, uid);
  if (!row || hasEnded(session, row)) throw notFound(resourceType(RoleBindingSchema), uid);
  return row;
}

/** Deletes bindings that have ended, in nobody's name. */
export async function deleteEnded(tx: Transaction, rows: readonly RoleBindingRow[]): Promise<void> {
  await deleteByItself(tx, rows, ending);
}

/** Deletes bindings in nobody's name, with the pending users who have none left. The change log has them under `method`. */
export async function deleteByItself(tx: Transaction, rows: readonly RoleBindingRow[], method: string): Promise<void> {
  await runConcurrently(loggedAs(tx, method, nobody), rows, (part, row) => deleteRow(part, roleBindingCollection, row));
  const holders = new Set(rows.map(({ identityUid }) => identityUid));
  await runConcurrently(tx, [...holders], deleteUnusedPendingUser);
}

/** Returns the binding of a role to an identity at exactly this group, or undefined. Deletes one that has ended. */
export async function findCurrentBinding(
  tx: Transaction,
  groupUid: string,
  roleUid: string,
  identityUid: string,
): Promise<RoleBindingRow | undefined> {
  const row = await findBinding(tx, groupUid, roleUid, identityUid);
  if (!row || !hasEnded(tx, row)) return row;
  await deleteEnded(tx, [row]);
  return undefined;
}

/** Makes a binding begin now and end at this time or later; null for no end. */
export async function extendBinding(tx: Transaction, row: RoleBindingRow, expireTime: number | null): Promise<void> {
  if (!hasTerm(row)) return;
  const isLater = row.expireTime !== null && (expireTime === null || expireTime > row.expireTime);
  const startsLater = row.startTime !== null && row.startTime > tx.termTime();
  const after = {
    ...row,
    expireTime: isLater ? expireTime : row.expireTime,
    startTime: startsLater ? null : row.startTime,
  };
  await updateRow(tx, roleBindingCollection, row, after);
}
