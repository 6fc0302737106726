// Denied calls of the API as entries of the audit log.
import { Code } from "../aip/errors.ts";
import type { Access } from "../authz/access.ts";
import type { Call } from "../pipeline/call.ts";
import { type Observer, originOf } from "../pipeline/observe.ts";
import { isUid, parentOf, rootOf } from "../uid.ts";
import type { AccessLog } from "./access-log.ts";

/** Records each call that is denied to a caller who is known. A bad token has no caller: the log of the server has it. */
export function denialObserver(accessLog: Pick<AccessLog, "record">): Observer {
  return (call, path, _durationMs, failure) => {
    const { caller, access } = call;
    if (failure?.code !== Code.PERMISSION_DENIED || !caller || !access) return;
    const { capability, scope = "" } = failure.metadata;
    const uid = isUid(scope) ? scope : "";
    accessLog.record({
      kind: "denials",
      by: { actor: caller.uid, actorClaims: caller.token.act, method: path, requestId: call.requestId },
      uid: uid || caller.uid,
      groupUids: groupsOf(caller.uid, access, uid),
      details: {
        outcome: "denied",
        reason: failure.reason,
        ...(capability !== undefined && { capability }),
        ...clientOf(call),
      },
    });
  };
}

/** The client of a call, as entries have it. */
export function clientOf(call: Call): { client?: string; userAgent?: string } {
  const { client, userAgent } = originOf(call);
  return { ...(client && { client }), ...(userAgent !== undefined && { userAgent }) };
}

/**
 * Where a denial is filed: at the uid that was asked for if the caller is known in that organization, so that its owners see it;
 * else in the caller's own organization. Nobody learns of a stranger, and of what a person tries elsewhere nobody but the log of
 * the server knows.
 */
function groupsOf(callerUid: string, access: Access, uid: string): string[] {
  const home = callerUid.includes("/") ? parentOf(callerUid) : "";
  if (uid !== "" && (rootOf(uid) === rootOf(callerUid) || access.reaches(rootOf(uid)))) return [uid];
  return home === "" ? [] : [home];
}
