// Token exchanges as entries of the audit log.
import type { Call } from "../pipeline/call.ts";
import type { ExchangeEvent } from "../sts/exchange.ts";
import { parentOf } from "../uid.ts";
import type { AccessLog } from "./access-log.ts";
import { clientOf } from "./denials.ts";

/** What recording exchanges rests on. */
export interface ExchangeRecorderDeps {
  readonly accessLog: Pick<AccessLog, "record">;
  /** Whether there is an identity or an identity provider of this uid. */
  readonly exists: (uid: string) => Promise<boolean>;
}

/**
 * Makes the function that records exchanges, in the group of the identity or of the identity provider. A uid that does not exist is
 * in nobody's log: strangers can name as many as they like.
 */
export function exchangeRecorder({ accessLog, exists }: ExchangeRecorderDeps) {
  return async (event: ExchangeEvent, call: Call): Promise<void> => {
    const { identity: uid, issuer, subject, check, reason } = event;
    const isAllowed = event.event === "token_issued";
    // People belong to no group.
    if (!uid.includes("/") || !(isAllowed || (await exists(uid)))) return;
    accessLog.record({
      kind: "token_exchanges",
      // Until the token is verified nobody knows whose it is.
      by: {
        actor: isAllowed ? uid : "",
        ...(isAllowed && { actorClaims: { iss: issuer, sub: subject } }),
        method: call.method?.path ?? "",
        requestId: call.requestId,
      },
      uid,
      groupUids: [parentOf(uid)],
      details: {
        outcome: isAllowed ? "allowed" : "denied",
        ...(check !== undefined && { check }),
        ...(reason !== undefined && { reason }),
        issuer,
        subject,
        ...clientOf(call),
      },
    });
  };
}
