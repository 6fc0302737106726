// Pending users: users to whom roles are bound before their first sign-in (docs/design/access.md). LookupIdentity returns the uid that a
// user will have.
import { deleteRow, findRow, insertOrRetry } from "../../../storage/collection/rows.ts";
import type { Transaction } from "../../../storage/engine/session.ts";
import { identityCollection } from "../../../storage/iam/collections.ts";
import { findBindingsOf } from "../../../storage/iam/role-bindings.ts";
import type { IdentityRow } from "../../../storage/iam/rows.ts";
import { newUserRow } from "./user-row.ts";
import { isUserUid } from "./user-uid.ts";

/** Whether an identity is a user who has not registered yet. A registered user has an issuer. */
export function isPendingUser({ uid, issuer }: Pick<IdentityRow, "uid" | "issuer">): boolean {
  return isUserUid(uid) && issuer === "";
}

/** Inserts a pending user, to whom role bindings can then refer. */
export async function createPendingUser(tx: Transaction, uid: string): Promise<void> {
  await insertOrRetry(tx, identityCollection, newUserRow(uid, tx.context.time));
}

/** Deletes a pending user who has no role binding left. Does nothing for any other identity. */
export async function deleteUnusedPendingUser(tx: Transaction, uid: string): Promise<void> {
  const row = isUserUid(uid) ? await findRow(tx, identityCollection, uid) : undefined;
  if (!row || !isPendingUser(row)) return;
  if ((await findBindingsOf(tx, "identityUid", uid, 1)).length === 0) await deleteRow(tx, identityCollection, row);
}
