// Sign-ins as events of the audit log.
import { show } from "../aip/clip.ts";
import type { AccessEvent } from "../audit/access-tally.ts";
import { type ClientDetails, clientDetails } from "../audit/client.ts";
import { parentOf } from "../model/uid.ts";
import { clientAddress } from "../transport/http/client-address.ts";
import { type HttpRequest, readHeader } from "../transport/http/message.ts";
import type { LoginProvider } from "./login-provider.ts";
import { callbackPathOf } from "./sign-in.ts";

/** The browser of a request, as entries of the audit log have it. */
export function browserOf(request: HttpRequest): ClientDetails {
  return clientDetails({ clientAddress: clientAddress(request), header: (name) => readHeader(request, name) });
}

/** Who signed in, and where they are known. */
export interface SignedIn {
  readonly uid: string;
  readonly act: Readonly<Record<string, string>>;
  /** The groups whose readers may know of the sign-in. */
  readonly groupUids: readonly string[];
}

/** The event of a sign-in that succeeded. */
export function signedIn(
  { uid, act, groupUids }: SignedIn,
  provider: LoginProvider,
  client: ClientDetails,
): AccessEvent {
  return {
    kind: "sign_ins",
    by: { actor: uid, actorClaims: act, method: callbackPathOf(provider.uid), requestId: "" },
    uid,
    groupUids,
    details: {
      outcome: "allowed",
      ...(act.iss && { issuer: show(act.iss) }),
      ...(act.sub && { subject: show(act.sub) }),
      ...client,
    },
  };
}

/** The event of a sign-in that failed at the identity provider of an organization; other failures are in the log of the server only. */
export function signInDenied(
  provider: LoginProvider,
  { check, reason }: Pick<AccessEvent["details"], "check" | "reason">,
  client: ClientDetails,
): AccessEvent {
  return {
    kind: "sign_ins",
    by: { actor: "", method: callbackPathOf(provider.uid), requestId: "" },
    uid: provider.uid,
    groupUids: provider.organization ? [parentOf(provider.uid)] : [],
    details: {
      outcome: "denied",
      ...(check !== undefined && { check }),
      ...(reason !== undefined && { reason }),
      issuer: show(provider.issuer),
      ...client,
    },
  };
}
