// Sends an event to the sink of a subscription.
import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { signJws } from "../authn/jws.ts";
import type { KeyRing } from "../authn/key-ring.ts";
import { clip, visible } from "../base/clip.ts";
import type { Clock } from "../base/clock.ts";
import { noPublicAddressText } from "../outbound/addresses.ts";
import { type OutboundAttempt, OutboundError } from "../outbound/error.ts";
import { noAnswer, type OutboundOptions, type SentReply, sendOutbound } from "../outbound/http.ts";
import type { Header } from "../outbound/response.ts";
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

/** Why an attempt failed, for subscribers; empty if the reason is not shown. */
export type FailureReason = "" | "no_public_address" | "connect" | "tls" | "timeout" | "status";

/** The response of a sink. What is not visible for subscribers is empty. */
interface SinkReply {
  readonly status: number;
  /** The beginning of the first line. */
  readonly line: string;
  readonly headers: readonly Header[];
  /** The beginning of the body; undefined if it is not visible. */
  readonly beginning: Buffer | undefined;
}

/** The result of an attempt. `refused` means that nothing was sent, because the sink is not allowed. */
export type Attempt = {
  /** Whether subscribers may see how the sink responded, and how fast: not in a private network, nor behind a proxy. */
  readonly isVisible: boolean;
} & (
  | { readonly outcome: "delivered"; readonly reply: SinkReply }
  | {
      readonly outcome: "failed" | "refused";
      readonly failure: string;
      readonly reason: FailureReason;
      /** For the log of the operator. */
      readonly code?: string;
      readonly reply?: SinkReply;
      /** How long the sink asks to wait, in milliseconds; undefined if it does not ask. */
      readonly retryAfterMs?: number | undefined;
    }
);

/**
 * The time that an attempt without a response takes, and that is shown, if its sink is in a private network or behind a proxy: subscribers
 * must not learn whether something listens there. In milliseconds; no attempt takes longer.
 */
export const hiddenDurationMs = 10_000;

/** Makes one attempt. It succeeds with a 2xx response; redirects are not followed. */
export async function sendEvent(event: CloudEvent, to: Addressee, options: SenderOptions): Promise<Attempt> {
  const authorization = `Bearer ${await signatureOf(event, to, options)}`;
  const request = { method: "POST", headers: { ...event.headers, authorization }, body: event.data };
  const { signal } = options.outbound;
  const end = sleep(hiddenDurationMs, undefined, { ref: false, ...(signal && { signal }) }).catch(() => undefined);
  try {
    return attemptOf(await sendOutbound(to.sink, request, options.outbound), options.clock());
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    const failed = failedAttempt(error, options.outbound);
    if (!failed.isVisible && failed.outcome === "failed") await end;
    return failed;
  }
}

function attemptOf(sent: SentReply, now: number): Attempt {
  const { status, reach, headers, beginning, retryAfter } = sent;
  const isVisible = reach === "public";
  const reply = { status, line: firstLineOf(beginning), headers, beginning };
  if (status >= 200 && status < 300) return { outcome: "delivered", isVisible, reply };
  return {
    outcome: "failed",
    isVisible,
    failure: `the sink answered ${status}`,
    reason: isVisible ? "status" : hiddenReasons[reach],
    reply,
    retryAfterMs: parseRetryAfter(retryAfter, now),
  };
}

/** The reasons of all attempts whose own one subscribers must not see. */
const hiddenReasons = { private: "no_public_address", proxy: "" } as const;

/** Returns the attempt that an error ended. It does not reveal whether something listens at an address of a private network. */
function failedAttempt(error: OutboundError, outbound: OutboundOptions): Attempt {
  const { failure: kind, message, attempt } = error;
  const code = codeOf(error);
  // The text of the URL breaks a rule.
  if (kind === "refused")
    return { outcome: "refused", isVisible: false, failure: message, reason: refusedReason(attempt), ...code };
  if (attempt.reach === "public") return { outcome: "failed", isVisible: true, ...visibleFailureOf(error), ...code };
  const { reach = "private" } = attempt;
  const failure = reach === "proxy" ? noAnswer : hiddenFailureOf(outbound);
  return { outcome: "failed", isVisible: false, failure, reason: hiddenReasons[reach], ...code };
}

function refusedReason({ reach }: OutboundAttempt): FailureReason {
  return reach === undefined || reach === "public" ? "" : hiddenReasons[reach];
}

/** Returns one text for absent names and for all attempts in private networks: tenants must not learn which names these have. */
function hiddenFailureOf({ allowedPrivate }: OutboundOptions): string {
  const isAnyAllowed = allowedPrivate !== undefined && allowedPrivate.rules.length > 0;
  return isAnyAllowed ? `${noPublicAddressText}, or there was no answer at its private one` : noPublicAddressText;
}

function visibleFailureOf({ failure, message, cause, attempt }: OutboundError): {
  failure: string;
  reason: FailureReason;
} {
  if (failure === "untrusted") return { failure: message, reason: "tls" };
  if (attempt.isTimeout) return { failure: noAnswer, reason: "timeout" };
  if (isTlsError(cause)) return { failure: "the sink does not speak TLS", reason: "tls" };
  return { failure: "the connection failed", reason: "connect" };
}

/** Whether OpenSSL reports an error, such as an answer in plain text. */
function isTlsError(error: unknown): boolean {
  const { code } = (error ?? {}) as { readonly code?: unknown };
  return typeof code === "string" && /^(ERR_SSL_|ERR_TLS_|EPROTO$)/.test(code);
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
  return await signJws(claims, await options.keys.signing("others"));
}
