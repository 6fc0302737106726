// What people are told when a sign-in fails: by the program that they came from, or else by a page.
import { type ApiError, Code } from "../aip/errors.ts";
import { type PageReply, seeOther } from "../doors/site.ts";
import { finishError } from "../pipeline/finish-error.ts";
import { notRegistered } from "../services/auth/registration.ts";
import { markup, page } from "./html.ts";
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

/** Tells of a failure where the request came from; without a place to go to, on a page. */
export function failureReply(
  deps: Pick<SignInDeps, "log" | "errorDomain">,
  thrown: unknown,
  target: LoginRequest["target"] | undefined,
): PageReply {
  const error = finishError(thrown, deps.errorDomain);
  const { metadata, reason } = error;
  const event = { event: "sign_in_refused", reason, check: metadata.check };
  // Neither the query nor the cause of what is ours alone to know: both may hold secrets.
  if (error.code === Code.INTERNAL) deps.log.error({ ...event, failure: describe(error.cause) }, "sign-in");
  else deps.log.info({ ...event, error: error.message }, "sign-in");
  const status = statusOf(error);
  if (target && "redirect" in target) return seeOther(withError(target.redirect, error.message, status));
  return page(
    status,
    "You are not signed in",
    markup`<p role="alert">${error.message}</p>
<p>Go back to the program that sent you here, and try again.</p>`,
  );
}

// 404 is for whoever has to register; nothing else that was not found may look like it.
function statusOf({ code, reason }: ApiError): number {
  return reason === notRegistered ? 404 : (statuses[code] ?? 400);
}

function describe(cause: unknown): string {
  return cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
}
