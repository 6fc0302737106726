// Reports a failed sign-in: to the program that started it, or else on a page.

import { type ApiError, Code, retryAfterOf } from "../aip/errors.ts";
import { OutboundError } from "../outbound/error.ts";
import { finishError } from "../pipeline/complete-error.ts";
import { isOwnFailure } from "../pipeline/observe.ts";
import { notRegistered } from "../services/auth/registration.ts";
import type { CallerClient } from "../storage/change-log/access-entries.ts";
import { type PageReply, seeOther } from "../transport/pages/pages.ts";
import { signInDenied } from "./access-events.ts";
import { goBack, markup, page } from "./html.ts";
import type { LoginProvider } from "./login-provider.ts";
import type { LoginRequest } from "./login-request.ts";
import { withError } from "./redirect.ts";
import type { SignInDeps } from "./sign-in.ts";

const statuses: Partial<Record<Code, number>> = {
  [Code.UNAUTHENTICATED]: 401,
  [Code.PERMISSION_DENIED]: 403,
  [Code.RESOURCE_EXHAUSTED]: 429,
  [Code.INTERNAL]: 500,
  [Code.UNAVAILABLE]: 503,
};

/** The details of a sign-in that are known when it fails. */
export interface Attempt {
  readonly client: CallerClient;
  target?: LoginRequest["target"];
  provider?: LoginProvider;
}

/** Reports a failure to the redirect address of the request; on a page if there is none. */
export function failureReply(
  deps: Pick<SignInDeps, "log" | "errorDomain" | "accessLog" | "outcomes">,
  thrown: unknown,
  { client, target, provider }: Attempt,
): PageReply {
  const error = finishError(thrown, deps.errorDomain);
  const { metadata, reason } = error;
  deps.outcomes.count(isOwnFailure(error) ? "failed" : "denied");
  const check = metadata.check ?? whyUnavailable(error.cause);
  // An installation has many providers, and the operator must find the one that is misconfigured.
  const event = {
    event: "sign_in_refused",
    provider: provider?.uid,
    issuer: provider?.issuer,
    reason,
    check,
    ...client,
  };
  if (provider) deps.accessLog.record(signInDenied(provider, { reason, check }, client));
  // Without the query and the cause of internal errors: both may contain secrets.
  if (error.code === Code.INTERNAL) deps.log.error({ ...event, failure: describe(error.cause) }, "sign-in");
  else deps.log.info({ ...event, error: error.message }, "sign-in");
  const status = statusOf(error);
  if (target && "redirect" in target) return seeOther(withError(target.redirect, error.message, status));
  const refusal = page(
    status,
    "You are not signed in",
    markup`<p role="alert">${error.message}</p>
${target && "page" in target ? markup`<p><a class="action" href="${target.page}">Back to the console</a></p>` : goBack}`,
  );
  const retryAfter = retryAfterOf(error);
  return retryAfter === undefined
    ? refusal
    : { ...refusal, headers: { ...refusal.headers, "retry-after": retryAfter } };
}

// Clients read 404 as "this user must register", so no other error may have that status.
function statusOf({ code, reason }: ApiError): number {
  return reason === notRegistered ? 404 : (statuses[code] ?? 400);
}

/**
 * Our own words and the system's error code, such as that of an expired certificate. What the provider said stays out.
 */
function whyUnavailable(failure: unknown): string | undefined {
  if (!(failure instanceof OutboundError)) return undefined;
  const { cause } = failure;
  if (!(cause instanceof Error)) return failure.message;
  return `${failure.message} (${"code" in cause && typeof cause.code === "string" ? cause.code : cause.name})`;
}

function describe(cause: unknown): string {
  return cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
}
