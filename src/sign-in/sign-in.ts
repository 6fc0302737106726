// Sign-in of people: a browser goes to a login provider and comes back with a code, which becomes a token of ours.
import type { Logger } from "pino";
import type { AccessLog } from "../audit/access-log.ts";
import type { FailureLimiter } from "../authn/failure-limiter.ts";
import type { Clock } from "../base/clock.ts";
import type { Database } from "../storage/database.ts";
import type { IdentityDirectory } from "../sts/assumable-identity.ts";
import type { Audiences } from "../sts/audiences.ts";
import type { IssueDeps } from "../sts/issue-token.ts";
import type { RefreshStore } from "../sts/refresh.ts";
import { type HttpRequest, requestTarget } from "../transport/http/message.ts";
import type { Upstream } from "./openid-client.ts";
import type { Providers } from "./providers.ts";

/** Where the flow begins, below the base URL. */
export const startPath = "/oauth";
/** Where it ends for the operator's login provider: its redirect URI, below the base URL. */
export const callbackPath = "/oauth/callback";

/**
 * Where it ends for the login provider of this uid. RFC 9700 §4.4.2: each has a redirect URI of its own, so that the path
 * says which provider sent the browser back (docs/decisions/0034).
 */
export function callbackPathOf(providerUid: string): string {
  return providerUid === "" ? callbackPath : `${callbackPath}/${providerUid}`;
}

/** Where a browser ends that has signed in for another device. */
export const donePath = "/oauth/done";

/** What the sign-in of people rests on. */
export interface SignInDeps extends IssueDeps {
  readonly database: Database;
  readonly directory: IdentityDirectory;
  readonly clock: Clock;
  readonly providers: Providers;
  readonly upstream: Upstream;
  readonly refreshStore: RefreshStore;
  readonly baseUrl: string;
  /** The audiences that may be asked for; the first is ours. */
  readonly audiences: Audiences;
  /** Issuers whose verified addresses are believed whatever group an invite is for. */
  readonly trustedEmailIssuers: readonly string[];
  /** Bounds the logins that one address begins. */
  readonly starts: FailureLimiter;
  readonly limits: SignInLimits;
  /** Whether a browser that came to another loopback name is sent to that of the base URL. */
  readonly dev: boolean;
  readonly errorDomain: string;
  readonly log: Pick<Logger, "info" | "warn" | "error">;
  readonly accessLog: Pick<AccessLog, "record">;
}

/** How long and how many. Times are in milliseconds. */
export interface SignInLimits {
  readonly signInMs: number;
  readonly signIns: number;
  readonly headlessSessionMs: number;
  readonly refreshMs: number;
}

/** The query of a request. */
export function queryOf(request: HttpRequest): URLSearchParams {
  return new URLSearchParams(requestTarget(request).query);
}

/** Whether browsers reach us over TLS, so that cookies may be held to it. */
export function isSecure({ baseUrl }: Pick<SignInDeps, "baseUrl">): boolean {
  return baseUrl.startsWith("https:");
}
