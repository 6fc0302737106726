import { hasTerm } from "../../../model/grants.ts";
import { callerOf, isNarrowed } from "../../../pipeline/authorize.ts";
import type { Call } from "../../../pipeline/call.ts";
import { findRow } from "../../../storage/collection/rows.ts";
import type { Database } from "../../../storage/database.ts";
import { roleBindingCollection } from "../../../storage/iam/collections.ts";
import { isUserUid } from "../users/user-uid.ts";

/**
 * Makes the function that says whether a role binding is the caller's own, and may be given up without a capability: any binding of a
 * person, because anyone can bind a role to them (docs/design/access.md), and a binding with a term. A narrowed token reaches nothing outside of its groups (security case X6).
 */
export function bindingOwnership({ session }: Pick<Database, "session">) {
  return async (call: Call, uid: string): Promise<boolean> => {
    const { uid: caller } = callerOf(call);
    if (isNarrowed(call)) return false;
    const row = await findRow(session, roleBindingCollection, uid);
    return row?.identityUid === caller && (isUserUid(caller) || hasTerm(row));
  };
}
