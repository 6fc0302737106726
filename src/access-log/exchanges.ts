// Records token exchanges in the audit log.

import { parentOf, rootOf } from "../model/uid.ts";
import type { Call } from "../pipeline/call.ts";
import { clientOf } from "../pipeline/observe.ts";
import type { ExchangeEvent } from "../sts/exchange.ts";
import type { AccessLog } from "./access-log.ts";

/** The dependencies of the recorder of token exchanges. */
export interface ExchangeRecorderOptions {
  readonly accessLog: Pick<AccessLog, "record">;
  /** Whether an identity or identity provider with this uid exists. */
  readonly exists: (uid: string) => Promise<boolean>;
  /** Returns the organizations that a user has accepted and in which the user holds a role. */
  readonly organizationsOf: (userUid: string) => Promise<readonly string[]>;
}

/**
 * Makes the function that records exchanges in the group of the identity or identity provider. Exchanges of users are recorded in the
 * organizations that know them. Exchanges for uids that do not exist are not recorded: strangers can send any uid.
 */
export function exchangeRecorder(options: ExchangeRecorderOptions) {
  const { accessLog, exists } = options;
  return async (event: ExchangeEvent, call: Call): Promise<void> => {
    const { identity: uid, issuer, subject, check, reason } = event;
    const isAllowed = event.event === "token_issued";
    const isPerson = !uid.includes("/");
    // No organization knows a client that failed to sign in as a user.
    if (!isAllowed && (isPerson || !(await exists(uid)))) return;
    accessLog.record({
      kind: "token_exchanges",
      // The actor is unknown until the token is verified.
      by: {
        actor: isAllowed ? uid : "",
        actorClaims: isAllowed ? { iss: issuer, sub: subject } : undefined,
        // The standard token endpoint is not a method of the API.
        method: call.method?.path ?? "/sts/token",
        requestId: call.requestId,
      },
      uid,
      groupUids: isPerson ? await organizationsOf(options, event) : [parentOf(uid)],
      details: {
        outcome: isAllowed ? "allowed" : "denied",
        check,
        reason,
        issuer,
        subject,
        ...clientOf(call),
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
