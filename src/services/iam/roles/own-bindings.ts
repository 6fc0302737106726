import { callerOf, isNarrowed } from "../../../pipeline/authorize.ts";
import type { Call } from "../../../pipeline/call.ts";
import { findRow } from "../../../storage/collection/rows.ts";
import type { Database } from "../../../storage/database.ts";
import { roleBindingCollection } from "../../../storage/iam/collections.ts";
import { isUserUid } from "../users/user-uid.ts";

/**
 * Makes the function that says whether a role binding is that of the calling person. Anyone can bind a role to a person, so people can
 * always delete it (docs/design/access.md). A narrowed token reaches nothing outside of its groups (security case X6).
 */
export function bindingOwnership({ session }: Pick<Database, "session">) {
  return async (call: Call, uid: string): Promise<boolean> => {
    const { uid: caller } = callerOf(call);
    if (!isUserUid(caller) || isNarrowed(call)) return false;
    return (await findRow(session, roleBindingCollection, uid))?.identityUid === caller;
  };
}
