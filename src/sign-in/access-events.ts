// Audit log events of sign-ins.

import type { AccessEvent } from "../access-log/access-tally.ts";
import { show } from "../base/clip.ts";
import { parentOf } from "../model/uid.ts";
import { clientOf } from "../pipeline/observe.ts";
import type { CallerClient } from "../storage/change-log/access-entries.ts";
import { clientAddress } from "../transport/http/client-address.ts";
import { type HttpRequest, readHeader } from "../transport/http/message.ts";
import type { LoginProvider } from "./login-provider.ts";
import { callbackPathOf } from "./sign-in.ts";

/** Returns the browser of a request for audit log entries. */
export function browserOf(request: HttpRequest): CallerClient {
  return clientOf({ clientAddress: clientAddress(request), header: (name) => readHeader(request, name) });
}

/** A signed-in user, and where the user is known. */
export interface SignedIn {
  readonly uid: string;
  readonly act: Readonly<Record<string, string>>;
  /** The groups whose readers may see the sign-in. */
  readonly groupUids: readonly string[];
}

/** Creates the event of a successful sign-in. */
export function signedIn(
  { uid, act, groupUids }: SignedIn,
  provider: LoginProvider,
  client: CallerClient,
): AccessEvent {
  return {
    kind: "sign_ins",
    by: { actor: uid, actorClaims: act, method: callbackPathOf(provider.uid), requestId: "" },
    uid,
    groupUids,
    details: {
      outcome: "allowed",
      issuer: act.iss ? show(act.iss) : undefined,
      subject: act.sub ? show(act.sub) : undefined,
      ...client,
    },
  };
}

/**
 * Creates the event of a sign-in that failed at an organization's identity provider. Other failures are in the server
 * log only.
 */
export function signInDenied(
  provider: LoginProvider,
  { check, reason }: Pick<AccessEvent["details"], "check" | "reason">,
  client: CallerClient,
): AccessEvent {
  return {
    kind: "sign_ins",
    by: { actor: "", method: callbackPathOf(provider.uid), requestId: "" },
    uid: provider.uid,
    groupUids: provider.organization ? [parentOf(provider.uid)] : [],
    details: {
      outcome: "denied",
      check,
      reason,
      issuer: show(provider.issuer),
      ...client,
    },
  };
}
