// People who hold roles before they have signed in. LookupIdentity tells the uid that somebody will have, so that roles can be
// bound to it beforehand.
import { deleteRow, findRow, insertMissingRow } from "../../../storage/collection/collection.ts";
import type { Transaction } from "../../../storage/engine/session.ts";
import { findBindingsOf } from "../../../storage/iam/role-bindings.ts";
import { type IdentityRow, identityCollection } from "../../../storage/iam/rows.ts";
import { toColumns } from "../identities/relationships.ts";

/** Whether an identity stands for a person of whom nothing is known but the uid. Whoever has registered has an issuer. */
export function isAwaited({ uid, issuer }: Pick<IdentityRow, "uid" | "issuer">): boolean {
  return isPersonUid(uid) && issuer === "";
}

/** Whether a uid is that of a person: one that belongs to no group. */
export function isPersonUid(uid: string): boolean {
  return !uid.includes("/");
}

/** Keeps a place for a person who is not known yet, so that something can be bound to them. */
export async function awaitPerson(tx: Transaction, uid: string): Promise<void> {
  const { time } = tx.context;
  await insertMissingRow(tx, identityCollection, {
    uid,
    parent: null,
    name: "",
    description: "",
    company: "",
    email: "",
    emailUnverified: "",
    ...toColumns({ case: undefined }),
    issuer: "",
    subject: "",
    metadata: {},
    lastSeenTime: time,
    createTime: time,
    updateTime: time,
  });
}

/** The place of a person who is not known yet; undefined for everybody else. */
export async function findAwaited(tx: Transaction, uid: string): Promise<IdentityRow | undefined> {
  const row = isPersonUid(uid) ? await findRow(tx, identityCollection, uid) : undefined;
  return row && isAwaited(row) ? row : undefined;
}

/** Gives up the place of a person who has not come, once nothing is bound to them any more. */
export async function forgetAwaited(tx: Transaction, uid: string): Promise<void> {
  const row = await findAwaited(tx, uid);
  if (row && (await findBindingsOf(tx, "identityUid", uid, 1)).length === 0) {
    await deleteRow(tx, identityCollection, row);
  }
}
