// The question whether a person joins an organization, between the return of the browser and the tokens.
import { randomBytes } from "node:crypto";
import { rateLimited } from "../../aip/errors.ts";
import type { CallerClient } from "../../storage/change-log/access-entries.ts";
import { insertSignIn } from "../../storage/sign-in/sign-ins.ts";
import type { Claims } from "../../sts/claim-match.ts";
import { type PageReply, seeOther } from "../../transport/pages/pages.ts";
import { signInLimits } from "../limits.ts";
import type { LoginProvider } from "../login-provider.ts";
import type { Login } from "../login-state.ts";
import { bindingCookieLine, bindingCookieName, sealRow } from "../sealed-row.ts";
import { callbackPath, isSecure, type SignInDeps } from "../sign-in.ts";
import type { Offer } from "./offers.ts";

/** The path of the page that asks, below the base URL. */
export const joinPath = "/oauth/join";

/** A sign-in whose browser has returned. */
export interface ReturnedLogin {
  readonly login: Pick<Login, "request" | "provider" | "client">;
  readonly provider: LoginProvider;
  /** The claims of the ID token. */
  readonly claims: Claims;
  readonly client: CallerClient;
}

/** The data that is stored while the user decides. */
export interface Question extends Pick<ReturnedLogin, "login" | "claims"> {
  readonly offers: readonly Offer[];
}

/**
 * Stores a question, and sends the browser to its page. The secret in the address is also that of its form: only a browser that has the
 * cookie as well can answer (ASVS 5.0 §3.5.1).
 */
export async function askToJoin(
  deps: SignInDeps,
  { login: { request, provider, client }, claims }: ReturnedLogin,
  offers: readonly Offer[],
): Promise<PageReply> {
  const [state = "", cookie = ""] = Array.from({ length: 2 }, () => randomBytes(32).toString("base64url"));
  const question: Question = { login: { request, provider, client }, claims, offers };
  const now = deps.clock();
  const row = sealRow("join", { state, cookie }, question, now + signInLimits.signInMs);
  const context = { actor: "", method: callbackPath, requestId: "", time: now };
  const isKept = await deps.database.write(context, (tx) => insertSignIn(tx, row, signInLimits.signIns));
  if (!isKept) throw rateLimited("too many people are signing in; try again in a while", signInLimits.fullRetryMs);
  const name = bindingCookieName("join", row.id, isSecure(deps));
  // A page with its own address can be reloaded; the callback works only once.
  return seeOther(`${deps.baseUrl}${joinPath}?sign_in=${state}`, {
    "set-cookie": bindingCookieLine({ name, value: cookie }, signInLimits.signInMs, isSecure(deps)),
  });
}
