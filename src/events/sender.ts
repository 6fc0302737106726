// Sends an event to the sink of a subscription.
import { createHash } from "node:crypto";
import { signJws } from "../authn/jws.ts";
import type { KeyRing } from "../authn/key-ring.ts";
import { clip, visible } from "../base/clip.ts";
import type { Clock } from "../base/clock.ts";
import { OutboundError } from "../outbound/error.ts";
import { noAnswer, type OutboundOptions, sendOutbound } from "../outbound/http.ts";
import { ProxyError } from "../outbound/tunnel.ts";
import type { CloudEvent } from "./cloud-event.ts";

/** How long the signature of an event is valid, in seconds. Each attempt has a new one. */
const lifetimeSeconds = 600;

/** The dependencies of the sender. */
export interface SenderOptions {
  /** The `iss` of our tokens. */
  readonly issuer: string;
  readonly keys: Pick<KeyRing, "signing">;
  readonly clock: Clock;
  readonly outbound: OutboundOptions;
}

/** The receiver of an event. */
export interface Addressee {
  /** The uid of the group that subscribed. */
  readonly parent: string;
  readonly sink: string;
}

/** The response of a sink. */
interface SinkReply {
  readonly status: number;
  /** The beginning of its first line; empty if subscribers must not see it. */
  readonly line: string;
  /** Whether subscribers may see it: not what a host of a private network responds, nor how fast. */
  readonly isVisible: boolean;
}

/** The result of an attempt. `refused` means that nothing was sent, because the sink is not allowed. */
export type Attempt =
  | { readonly outcome: "delivered"; readonly reply: SinkReply }
  | {
      readonly outcome: "failed" | "refused";
      readonly reason: string;
      readonly code?: string;
      readonly reply?: SinkReply;
      /** How long the sink asks to wait, in milliseconds; undefined if it does not ask. */
      readonly retryAfterMs?: number | undefined;
    };

/** Makes one attempt. It succeeds with a 2xx response; redirects are not followed. */
export async function sendEvent(event: CloudEvent, to: Addressee, options: SenderOptions): Promise<Attempt> {
  const authorization = `Bearer ${await signatureOf(event, to, options)}`;
  const request = { method: "POST", headers: { ...event.headers, authorization }, body: event.data };
  try {
    const { status, beginning, retryAfter } = await sendOutbound(to.sink, request, options.outbound);
    const reply = { status, line: firstLineOf(beginning), isVisible: beginning !== undefined };
    if (status >= 200 && status < 300) return { outcome: "delivered", reply };
    const retryAfterMs = parseRetryAfter(retryAfter, options.clock());
    return { outcome: "failed", reason: `the sink answered ${status}`, reply, retryAfterMs };
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    return {
      outcome: error.failure === "refused" ? "refused" : "failed",
      reason: deliveryError(error),
      ...codeOf(error),
    };
  }
}

/**
 * Parses the header Retry-After: seconds or a date (RFC 9110 §10.2.3). Returns milliseconds from `now`, 0 for a past date, and undefined
 * without a valid one.
 */
export function parseRetryAfter(text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,10}$/.test(text)) return Number(text) * 1000;
  const time = /^[A-Z][a-z]{2,8},? /.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? undefined : Math.max(0, time - now);
}

/** The number of bytes of a response that are decoded to find its first line. */
const lineBytes = 1_000;

/** Returns the beginning of the first line of a response. */
function firstLineOf(beginning: Buffer | undefined): string {
  if (!beginning) return "";
  const [line = ""] = beginning
    .subarray(0, lineBytes)
    .toString()
    .trimStart()
    .split(/[\r\n]/, 1);
  // Escaped first: the escape of a character is longer than the character.
  return clip(visible(line.trimEnd()));
}

/** Returns the error that the subscriber sees. It does not reveal whether something listens at an address of a private network. */
function deliveryError({ failure, message, cause }: OutboundError): string {
  return failure === "untrusted" || cause instanceof ProxyError ? noAnswer : message;
}

/**
 * Returns the error code for the log of the operator, such as that of a wrong certificate. Subscribers do not see it: it would reveal
 * open ports of a private network.
 */
function codeOf({ cause }: OutboundError): { code?: string } {
  return cause instanceof Error && "code" in cause && typeof cause.code === "string" ? { code: cause.code } : {};
}

/** Signs an event: the receiver can verify sender, receiver and content (security case W3). */
async function signatureOf({ data }: CloudEvent, { parent }: Addressee, options: SenderOptions): Promise<string> {
  const issuedAt = Math.floor(options.clock() / 1000);
  const claims = {
    iss: options.issuer,
    aud: "customer",
    sub: `webhook:${parent}`,
    iat: issuedAt,
    exp: issuedAt + lifetimeSeconds,
    webhook: { digest: `sha256:${createHash("sha256").update(data).digest("hex")}` },
  };
  return await signJws(claims, await options.keys.signing());
}
