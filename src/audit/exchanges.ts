// Token exchanges as entries of the audit log.

import { parentOf, rootOf } from "../model/uid.ts";
import type { Call } from "../pipeline/call.ts";
import type { ExchangeEvent } from "../sts/exchange.ts";
import type { AccessLog } from "./access-log.ts";
import { clientDetails } from "./client.ts";

/** What recording exchanges rests on. */
export interface ExchangeRecorderOptions {
  readonly accessLog: Pick<AccessLog, "record">;
  /** Whether there is an identity or an identity provider of this uid. */
  readonly exists: (uid: string) => Promise<boolean>;
  /** The organizations in which a person holds something that they have accepted. */
  readonly organizationsOf: (userUid: string) => Promise<readonly string[]>;
}

/**
 * Makes the function that records exchanges, in the group of the identity or of the identity provider; of a person like a sign-in, in
 * the organizations that know them. A uid that does not exist is in nobody's log: strangers can name as many as they like.
 */
export function exchangeRecorder(options: ExchangeRecorderOptions) {
  const { accessLog, exists } = options;
  return async (event: ExchangeEvent, call: Call): Promise<void> => {
    const { identity: uid, issuer, subject, check, reason } = event;
    const isAllowed = event.event === "token_issued";
    const isPerson = !uid.includes("/");
    // A client that failed to sign in as a person is a stranger to all organizations.
    if (!isAllowed && (isPerson || !(await exists(uid)))) return;
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
      groupUids: isPerson ? await organizationsOf(options, event) : [parentOf(uid)],
      details: {
        outcome: isAllowed ? "allowed" : "denied",
        ...(check !== undefined && { check }),
        ...(reason !== undefined && { reason }),
        issuer,
        subject,
        ...clientDetails(call),
      },
    });
  };
}

async function organizationsOf(
  options: ExchangeRecorderOptions,
  { identity, identityProvider }: ExchangeEvent,
): Promise<string[]> {
  const own = identityProvider === undefined ? [] : [rootOf(identityProvider)];
  return [...new Set([...own, ...(await options.organizationsOf(identity))])];
}
