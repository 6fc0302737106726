// Audit log events of sessions that end before their time.
import type { AccessEvent } from "../access-log/access-tally.ts";
import { parentOf } from "../model/uid.ts";
import type { Call } from "../pipeline/call.ts";
import { clientOf } from "../pipeline/observe.ts";
import { isUserUid } from "../services/iam/users/user-uid.ts";
import { findMembershipsOf } from "../storage/iam/memberships.ts";
import type { RefreshFamily } from "../sts/refresh.ts";
import type { SignInDeps } from "./sign-in.ts";

/**
 * The methods of audit-log entries by the reason why a session ended. Reuse of a refresh token means that it was stolen from the client,
 * or by it.
 */
const methods = {
  signed_out: "/oauth/session/sign-out",
  session_revoked: "/oauth/session/revoke",
  refresh_token_reused: "/chainguard.platform.oidc.SecurityTokenService/ExchangeRefreshToken",
} as const;

/** A reason for the end of a session. */
export type SessionEnd = keyof typeof methods;

/**
 * Records the end of a session in the group of its identity; for a user, in the organizations that the user has accepted. A failure is
 * logged.
 */
export function recordSessionEnd(
  { database, accessLog, log }: Pick<SignInDeps, "database" | "accessLog" | "log">,
  end: SessionEnd,
  family: Pick<RefreshFamily, "identityUid" | "signIn">,
  call: Call,
): void {
  groupsOf(database, family.identityUid)
    .then((groupUids) => accessLog.record(eventOf(end, family, groupUids, call)))
    .catch((error) => log.warn({ err: error }, "recording the end of a session in the audit log failed"));
}

async function groupsOf({ session }: SignInDeps["database"], uid: string): Promise<string[]> {
  if (!isUserUid(uid)) return [parentOf(uid)];
  return (await findMembershipsOf(session, [uid])).map(({ groupUid }) => groupUid);
}

function eventOf(
  end: SessionEnd,
  { identityUid: uid, signIn }: Pick<RefreshFamily, "identityUid" | "signIn">,
  groupUids: readonly string[],
  call: Call,
): AccessEvent {
  const isReuse = end === "refresh_token_reused";
  return {
    kind: "session_ends",
    // The actor who presented the token again is unknown.
    by: {
      actor: isReuse ? "" : uid,
      actorClaims: isReuse ? undefined : signIn.act,
      method: methods[end],
      requestId: call.requestId,
    },
    uid,
    groupUids,
    details: { outcome: isReuse ? "denied" : "allowed", check: end, ...clientOf(call) },
  };
}
