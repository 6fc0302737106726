import { callerOf } from "../../pipeline/authorize.ts";
import type { Call } from "../../pipeline/call.ts";
import { findRows } from "../../storage/collection/rows.ts";
import type { Session } from "../../storage/engine/session.ts";
import { identityCollection } from "../../storage/iam/collections.ts";
import { identityReference } from "../iam/role-bindings/hydration.ts";
import { isReadable } from "../iam/rules/readable.ts";
import { knownAmong } from "../iam/users/membership.ts";

/** An identity as part of a response. */
export type ShownIdentity = ReturnType<typeof identityReference> | { readonly uid: string };

/** Reads identities with access to a group. The returned function shows one, or only its uid if the caller may not read the rest. */
export async function identityShower(session: Session, uids: readonly string[], group: string, call: Call) {
  const found = await findRows(session, identityCollection, [...new Set(uids)]);
  const rows = new Map(found.map((row) => [row.uid, row]));
  const isKnownTo = await knownAmong(session, uids);
  const { uid: self } = callerOf(call);
  return (identityUid: string): ShownIdentity => {
    const isShown =
      identityUid === self || (isReadable({ identityUid, parent: group }, call) && isKnownTo(identityUid, group));
    const row = isShown ? rows.get(identityUid) : undefined;
    return row ? identityReference(row) : { uid: identityUid };
  };
}
