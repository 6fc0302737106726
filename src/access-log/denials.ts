// Records denied API calls in the audit log.
import type { Logger } from "pino";
import { type ApiError, Code } from "../aip/errors.ts";
import type { Caller } from "../authn/caller.ts";
import type { Access } from "../authz/access.ts";
import { isUid, parentOf, rootOf } from "../model/uid.ts";
import type { Call } from "../pipeline/call.ts";
import { clientOf, type Observer } from "../pipeline/observe.ts";
import type { AccessLog } from "./access-log.ts";

/** The dependencies of the recorder of denials. */
export interface DenialObserverOptions {
  readonly accessLog: Pick<AccessLog, "record" | "track">;
  /** Whether the organization of a group may see more of an identity than its uid. */
  readonly isKnownAt: (identityUid: string, groupUid: string) => Promise<boolean>;
  readonly log: Pick<Logger, "warn">;
}

/** Returns an observer that records denied calls of authenticated callers. Calls with a bad token are in the server log only. */
export function denialObserver(options: DenialObserverOptions): Observer {
  return (call, path, _durationMs, failure) => {
    if (failure?.code !== Code.PERMISSION_DENIED || !call.caller || !call.access) return;
    const logFailure = (error: unknown) =>
      options.log.warn({ err: error }, "recording a denial in the audit log failed");
    const { caller, access } = call;
    options.accessLog.track(recordDenial(options, caller, access, call, path, failure).catch(logFailure));
  };
}

async function recordDenial(
  { accessLog, isKnownAt }: DenialObserverOptions,
  caller: Caller,
  access: Access,
  call: Call,
  path: string,
  { reason, metadata }: ApiError,
): Promise<void> {
  const { capability, scope = "" } = metadata;
  const uid = isUid(scope) ? scope : "";
  const isMember = uid !== "" && access.reaches(rootOf(uid)) && (await isKnownAt(caller.uid, uid));
  accessLog.record({
    kind: "denials",
    by: { actor: caller.uid, actorClaims: caller.token.act, method: path, requestId: call.requestId },
    uid: uid || caller.uid,
    groupUids: groupsOf(caller.uid, uid, isMember),
    details: { outcome: "denied", reason, capability, ...clientOf(call) },
  });
}

/**
 * Returns the groups whose audit logs contain a denial: the requested group if its organization knows the caller, otherwise the
 * caller's own group. Denials of users in organizations that do not know them are in the server log only.
 */
function groupsOf(callerUid: string, uid: string, isMember: boolean): string[] {
  if (uid !== "" && (isMember || rootOf(uid) === rootOf(callerUid))) return [uid];
  return callerUid.includes("/") ? [parentOf(callerUid)] : [];
}
