// Sign-ins as events of the audit log.
import { show } from "../aip/clip.ts";
import type { AccessEvent } from "../audit/access-tally.ts";
import { clientAddress } from "../doors/client-address.ts";
import type { HttpRequest } from "../doors/http-message.ts";
import { parentOf } from "../uid.ts";
import type { LoginProvider } from "./login-provider.ts";
import { callbackPathOf } from "./sign-in.ts";

/** The client of a request, as entries of the audit log have it. */
export type Client = Pick<AccessEvent["details"], "client" | "userAgent">;

/** The address of the browser, and what it says that it is. */
export function clientOf(request: HttpRequest): Client {
  const userAgent = request.headers["user-agent"];
  return { client: clientAddress(request), ...(userAgent !== undefined && { userAgent: show(userAgent) }) };
}

/** Who signed in, and where they are known. */
export interface SignedIn {
  readonly uid: string;
  readonly act: Readonly<Record<string, string>>;
  /** The groups whose readers may know of the sign-in. */
  readonly groupUids: readonly string[];
}

/** The event of a sign-in that succeeded. */
export function signedIn({ uid, act, groupUids }: SignedIn, provider: LoginProvider, client: Client): AccessEvent {
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

/** The event of a sign-in that failed at the identity provider of an organization; nobody is told of other failures. */
export function signInDenied(
  provider: LoginProvider,
  { check, reason }: Pick<AccessEvent["details"], "check" | "reason">,
  client: Client,
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
