// Sends an event to where a subscription wants it.
import { createHash } from "node:crypto";
import { signJws } from "../authn/jws.ts";
import type { KeyRing } from "../authn/key-ring.ts";
import { OutboundError } from "../authn/outbound-error.ts";
import { noAnswer, type OutboundOptions, sendOutbound } from "../authn/outbound-http.ts";
import { ProxyError } from "../authn/tunnel.ts";
import type { Clock } from "../base/clock.ts";
import type { CloudEvent } from "./cloud-event.ts";

/** How long the signature of an event holds, in seconds: each attempt has a new one. */
const lifetime = 600;

/** What sending rests on. */
export interface SenderOptions {
  /** The `iss` of our tokens. */
  readonly issuer: string;
  readonly keys: Pick<KeyRing, "signing">;
  readonly clock: Clock;
  readonly outbound: OutboundOptions;
}

/** Where an event goes. */
export interface Addressee {
  /** The uid of the group that subscribed. */
  readonly parent: string;
  readonly sink: string;
}

/** What became of an attempt: `refused` when nothing was sent since it must not go there. */
export type Attempt =
  | { readonly outcome: "delivered" }
  | { readonly outcome: "failed" | "refused"; readonly reason: string; readonly code?: string };

/** Tries once. A reply of 2xx says that the event has arrived; redirects are not followed. */
export async function sendEvent(event: CloudEvent, to: Addressee, options: SenderOptions): Promise<Attempt> {
  const authorization = `Bearer ${await signatureOf(event, to, options)}`;
  const request = { method: "POST", headers: { ...event.headers, authorization }, body: event.data };
  try {
    const status = await sendOutbound(to.sink, request, options.outbound);
    if (status >= 200 && status < 300) return { outcome: "delivered" };
    return { outcome: "failed", reason: `the sink answered ${status}` };
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    return {
      outcome: error.failure === "refused" ? "refused" : "failed",
      reason: deliveryError(error),
      ...codeOf(error),
    };
  }
}

/** What the subscriber is told: not that something listens there, which may be a network that they cannot see. */
function deliveryError({ failure, message, cause }: OutboundError): string {
  return failure === "untrusted" || cause instanceof ProxyError ? noAnswer : message;
}

/**
 * By this the operator tells a sink that is not there from one whose certificate is wrong. Nobody else is told: it would say which
 * ports of a network are open that they cannot see.
 */
function codeOf({ cause }: OutboundError): { code?: string } {
  return cause instanceof Error && "code" in cause && typeof cause.code === "string" ? { code: cause.code } : {};
}

/** By this a receiver knows that the event is ours, for them, and as it was sent (security case W3). */
async function signatureOf({ data }: CloudEvent, { parent }: Addressee, options: SenderOptions): Promise<string> {
  const issuedAt = Math.floor(options.clock() / 1000);
  const claims = {
    iss: options.issuer,
    aud: "customer",
    sub: `webhook:${parent}`,
    iat: issuedAt,
    exp: issuedAt + lifetime,
    webhook: { digest: `sha256:${createHash("sha256").update(data).digest("hex")}` },
  };
  return await signJws(claims, await options.keys.signing());
}
