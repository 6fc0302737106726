// Completes a sign-in whose browser has returned from the login provider, or asks first whether the person joins an organization.
import { ApiError, permissionDenied } from "../../aip/errors.ts";
import type { PageReply } from "../../transport/pages/pages.ts";
import { deliverTokens } from "../deliver-tokens.ts";
import { issueTokens } from "../issue-tokens.ts";
import type { SignInDeps } from "../sign-in.ts";
import { askToJoin, type ReturnedLogin } from "./question.ts";
import { type Decision, settle } from "./settle.ts";

/**
 * Delivers the tokens of a sign-in. Before anything is accepted that the person has not decided about, changes nothing and sends the
 * browser to a page that asks (docs/design/access.md).
 */
export async function completeSignIn(
  deps: SignInDeps,
  returned: ReturnedLogin,
  decision?: Decision,
): Promise<PageReply> {
  const { provider, claims, client } = returned;
  const { request } = returned.login;
  const settled = await settle(deps, { request, provider, claims }, decision);
  if (settled.state === "undecided") return await askToJoin(deps, returned, settled.offers);
  if (settled.state === "over") throw notJoined();
  const granted = await issueTokens(deps, { request, provider, client }, claims, settled);
  const reply = await deliverTokens(deps, request.target, granted);
  deps.outcomes.count("completed");
  return reply;
}

function notJoined(): ApiError {
  const { code, message, details, metadata } = permissionDenied(
    "this sign-in was for an organization that you have not joined",
    { check: "not_joined" },
  );
  return new ApiError(code, message, { details, reason: "NOT_JOINED", metadata });
}
