import { permissionDenied } from "../../../aip/errors.ts";
import { callerOf, isNarrowed } from "../../../pipeline/authorize.ts";
import type { Call } from "../../../pipeline/call.ts";
import { isUserUid } from "../users/user-uid.ts";

/** Returns the calling person. Throws PERMISSION_DENIED for workloads and for narrowed tokens, which reach no account (security case X6). */
export function requirePerson(call: Call): { readonly uid: string } {
  const { uid } = callerOf(call);
  if (!isUserUid(uid)) throw permissionDenied("only people have memberships, and the caller is a workload");
  if (isNarrowed(call))
    throw permissionDenied("a token that is narrowed to groups or capabilities reaches no membership");
  return { uid };
}
