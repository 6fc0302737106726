// Sign-in of users: a browser is sent to a login provider and returns with a code, which is exchanged for our tokens.
import type { Logger } from "pino";
import type { AccessLog } from "../access-log/access-log.ts";
import type { FailureLimiter } from "../authn/failure-limiter.ts";
import type { Clock } from "../base/clock.ts";
import type { OutcomeCounts } from "../base/outcome-counts.ts";
import type { Database } from "../storage/database.ts";
import type { IdentityDirectory } from "../sts/assumable-identity.ts";
import type { Audiences } from "../sts/audiences.ts";
import type { IssueDeps } from "../sts/issue-token.ts";
import type { RefreshStore } from "../sts/refresh.ts";
import { type HttpRequest, requestTarget } from "../transport/http/message.ts";
import type { Upstream } from "./openid-client.ts";
import type { Providers } from "./providers.ts";

/** The path where the flow starts, below the base URL. */
export const startPath = "/oauth";
/** The redirect URI of the operator's login provider, below the base URL. */
export const callbackPath = "/oauth/callback";

/**
 * Returns the redirect URI path of the login provider with this uid. RFC 9700 §4.4.2: each provider has its own, so the
 * path tells which provider sent the browser back (docs/decisions/0034).
 */
export function callbackPathOf(providerUid: string): string {
  return providerUid === "" ? callbackPath : `${callbackPath}/${providerUid}`;
}

/** The path of the final page after a sign-in for another device. */
export const donePath = "/oauth/done";

/** Dependencies of the sign-in. */
export interface SignInDeps extends IssueDeps {
  readonly database: Database;
  readonly directory: IdentityDirectory;
  readonly clock: Clock;
  readonly providers: Providers;
  readonly upstream: Upstream;
  readonly refreshStore: RefreshStore;
  readonly baseUrl: string;
  /** The accepted audiences; the first is ours. */
  readonly audiences: Audiences;
  /** Issuers whose verified email addresses are trusted for invites of any organization. */
  readonly trustedEmailIssuers: readonly string[];
  /** Limits the logins that one client address starts. */
  readonly starts: FailureLimiter;
  /** Whether a browser on another loopback name is redirected to that of the base URL. */
  readonly dev: boolean;
  readonly errorDomain: string;
  readonly log: Pick<Logger, "info" | "warn" | "error">;
  readonly accessLog: Pick<AccessLog, "record">;
  /** Counts how sign-ins end, for metrics. */
  readonly outcomes: Pick<OutcomeCounts<SignInOutcome>, "count">;
}

/**
 * The outcomes of a sign-in: completed with tokens, denied for a reason that the user, the program or the provider is responsible for, or
 * failed because the server or the provider does not work.
 */
export const signInOutcomes = ["completed", "denied", "failed"] as const;

/** One of them. */
export type SignInOutcome = (typeof signInOutcomes)[number];

/** Returns the query of a request. */
export function queryOf(request: HttpRequest): URLSearchParams {
  return new URLSearchParams(requestTarget(request).query);
}

/** Reports whether browsers reach the server over TLS, so cookies can require it. */
export function isSecure({ baseUrl }: Pick<SignInDeps, "baseUrl">): boolean {
  return baseUrl.startsWith("https:");
}
