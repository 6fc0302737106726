// The words of people: an organization finds its members.
import { findRows } from "../collection/rows.ts";
import type { Transaction } from "../engine/session.ts";
import { identityCollection } from "../iam/collections.ts";
import { findMembershipsOf } from "../iam/memberships.ts";
import { deletePersonWords, insertWords, storedPersonWords } from "./name-words.ts";
import { personWordsOf } from "./words.ts";

/** Stores the words of people as they are now, in the organizations that they have joined. */
export async function replacePersonWords(tx: Transaction, uids: readonly string[]): Promise<void> {
  if (uids.length === 0) return;
  await deletePersonWords(tx, uids);
  const rows = new Map((await findRows(tx, identityCollection, uids)).map((row) => [row.uid, row]));
  const words = (await findMembershipsOf(tx, uids)).flatMap(({ identityUid, groupUid }) => {
    const row = rows.get(identityUid);
    return row ? storedPersonWords(groupUid, identityUid, personWordsOf(row)) : [];
  });
  await insertWords(tx, words);
}
