// What people are told when a sign-in fails: by the program that they came from, or else by a page.

import { type ApiError, Code, retryAfterOf } from "../aip/errors.ts";
import type { ClientDetails } from "../audit/client.ts";
import { OutboundError } from "../authn/outbound-error.ts";
import { finishError } from "../pipeline/complete-error.ts";
import { notRegistered } from "../services/auth/registration.ts";
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

/** What is known of a sign-in by the time that it fails. */
export interface Attempt {
  readonly client: ClientDetails;
  target?: LoginRequest["target"];
  provider?: LoginProvider;
}

/** Tells of a failure where the request came from; without a place to go to, on a page. */
export function failureReply(
  deps: Pick<SignInDeps, "log" | "errorDomain" | "accessLog">,
  thrown: unknown,
  { client, target, provider }: Attempt,
): PageReply {
  const error = finishError(thrown, deps.errorDomain);
  const { metadata, reason } = error;
  const check = metadata.check ?? whyUnavailable(error.cause);
  // An installation has many providers, and whoever runs it has to find the one that is set up wrong.
  const event = {
    event: "sign_in_refused",
    provider: provider?.uid,
    issuer: provider?.issuer,
    reason,
    check,
    ...client,
  };
  if (provider)
    deps.accessLog.record(signInDenied(provider, { reason, ...(check !== undefined && { check }) }, client));
  // Neither the query nor the cause of what is ours alone to know: both may hold secrets.
  if (error.code === Code.INTERNAL) deps.log.error({ ...event, failure: describe(error.cause) }, "sign-in");
  else deps.log.info({ ...event, error: error.message }, "sign-in");
  const status = statusOf(error);
  if (target && "redirect" in target) return seeOther(withError(target.redirect, error.message, status));
  const refusal = page(
    status,
    "You are not signed in",
    markup`<p role="alert">${error.message}</p>
${goBack}`,
  );
  const retryAfter = retryAfterOf(error);
  return retryAfter === undefined
    ? refusal
    : { ...refusal, headers: { ...refusal.headers, "retry-after": retryAfter } };
}

// 404 is for whoever has to register; nothing else that was not found may look like it.
function statusOf({ code, reason }: ApiError): number {
  return reason === notRegistered ? 404 : (statuses[code] ?? 400);
}

/** Our own words and the system's code, such as that of an expired certificate: what the other side said stays out. */
function whyUnavailable(failure: unknown): string | undefined {
  if (!(failure instanceof OutboundError)) return undefined;
  const { cause } = failure;
  if (!(cause instanceof Error)) return failure.message;
  return `${failure.message} (${"code" in cause && typeof cause.code === "string" ? cause.code : cause.name})`;
}

function describe(cause: unknown): string {
  return cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
}
