// Denied calls of the API as entries of the audit log.
import type { Logger } from "pino";
import { type ApiError, Code } from "../aip/errors.ts";
import type { Caller } from "../authn/caller.ts";
import type { Access } from "../authz/access.ts";
import { isUid, parentOf, rootOf } from "../model/uid.ts";
import type { Call } from "../pipeline/call.ts";
import type { Observer } from "../pipeline/observe.ts";
import type { AccessLog } from "./access-log.ts";
import { clientDetails } from "./client.ts";

/** What recording denials rests on. */
export interface DenialObserverOptions {
  readonly accessLog: Pick<AccessLog, "record">;
  /** Whether an identity is more than a uid in the organization of a group. */
  readonly isKnownAt: (identityUid: string, groupUid: string) => Promise<boolean>;
  readonly log: Pick<Logger, "warn">;
}

/** Records each call that is denied to a caller who is known. A bad token has no caller: the log of the server has it. */
export function denialObserver(options: DenialObserverOptions): Observer {
  return (call, path, _durationMs, failure) => {
    if (failure?.code !== Code.PERMISSION_DENIED || !call.caller || !call.access) return;
    recordDenial(options, call.caller, call.access, call, path, failure).catch((error) =>
      options.log.warn({ err: error }, "a denial is missing in the audit log"),
    );
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
    details: { outcome: "denied", reason, ...(capability !== undefined && { capability }), ...clientDetails(call) },
  });
}

/**
 * Where a denial is filed: at the uid that was asked for if the caller is known in that organization, so that its owners see it;
 * else in the caller's own organization. Nobody learns of a stranger, and of what a person tries elsewhere nobody but the log of
 * the server knows.
 */
function groupsOf(callerUid: string, uid: string, isMember: boolean): string[] {
  if (uid !== "" && (isMember || rootOf(uid) === rootOf(callerUid))) return [uid];
  return callerUid.includes("/") ? [parentOf(callerUid)] : [];
}
