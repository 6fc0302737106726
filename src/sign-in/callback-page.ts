// The second half of a sign-in: the browser returns with an authorization code, which is exchanged for tokens.
import { invalidField, permissionDenied } from "../aip/errors.ts";
import { findSignIn, takeSignIn } from "../storage/sign-in/sign-ins.ts";
import { type HttpRequest, requestTarget } from "../transport/http/message.ts";
import { type PageReply, text } from "../transport/pages/pages.ts";
import { browserOf } from "./access-events.ts";
import { readCookie } from "./cookies.ts";
import { deliverTokens } from "./deliver-tokens.ts";
import { type Attempt, failureReply } from "./error-page.ts";
import { issueTokens } from "./issue-tokens.ts";
import type { LoginProvider } from "./login-provider.ts";
import { cookieName, isSameBrowser, type Login, loginCookieLine, loginId, openLogin } from "./login-state.ts";
import { callbackPath, callbackPathOf, isSecure, queryOf, type SignInDeps } from "./sign-in.ts";

/** Creates the page that login providers redirect browsers to, with one path per provider. */
export function callbackPage(deps: SignInDeps) {
  return async (request: HttpRequest): Promise<PageReply> => {
    // RFC 9110 §9.2.1: HEAD must not change anything, and a callback works only once.
    if (request.method === "HEAD") return { ...text(405, "Method Not Allowed"), headers: { allow: "GET" } };
    const query = queryOf(request);
    const attempt: Attempt = { client: browserOf(request) };
    try {
      const login = await takeLogin(deps, request, query);
      attempt.target = login.request.target;
      const reply = await finish(deps, login, request, attempt);
      deps.outcomes.count("completed");
      return clearCookie(deps, login, reply);
    } catch (error) {
      return failureReply(deps, error, attempt);
    }
  };
}

/** Takes the login that this browser started. Each can be taken once. */
async function takeLogin(deps: SignInDeps, request: HttpRequest, query: URLSearchParams): Promise<Login> {
  const [state = "", second] = query.getAll("state");
  const id = loginId(state);
  const row = second === undefined ? await findSignIn(deps.database.session, id) : undefined;
  const cookie = readCookie(request.headers.cookie, cookieName(id, isSecure(deps)));
  // Prevents login CSRF: a user must not finish a login that someone else started (RFC 6819 §4.4.1.8).
  const login = row && cookie !== undefined && isSameBrowser(row, cookie) ? openLogin(row, state) : undefined;
  if (!row || !login || row.expireTime <= deps.clock()) throw notBegun();
  // Before it is taken: the callback of another provider must not end the login.
  requireSameCallback(login, requestTarget(request).path);
  const context = { actor: "", method: callbackPath, requestId: "", time: deps.clock() };
  if (!(await deps.database.write(context, (tx) => takeSignIn(tx, id)))) throw notBegun();
  return login;
}

async function finish(deps: SignInDeps, login: Login, request: HttpRequest, attempt: Attempt): Promise<PageReply> {
  const provider = await deps.providers.choose(login.provider);
  attempt.provider = provider;
  requireUnchanged(login, provider);
  const callback = new URL(`${deps.baseUrl}${callbackPathOf(provider.uid)}?${queryOf(request)}`);
  const claims = await deps.upstream.claimsOf(provider, login.secrets, callback);
  const granted = await issueTokens(deps, { ...login, provider, client: attempt.client }, claims);
  return await deliverTokens(deps, login.request.target, granted);
}

/**
 * Throws unless the browser returns from the provider that it was sent to. The code of one provider must never be sent
 * to another (RFC 9700 §4.4), and a provider may redirect the browser to a second one.
 */
function requireSameCallback({ provider: uid }: Login, path: string): void {
  if (path !== callbackPathOf(uid))
    throw permissionDenied("the browser came back from another login provider than it was sent to: sign in again", {
      check: "redirect_uri",
    });
}

/** Throws if the provider was changed in the meantime: its code would be sent to another one. */
function requireUnchanged({ client }: Login, provider: LoginProvider): void {
  if (client && (client.issuer !== provider.issuer || client.clientId !== provider.clientId))
    throw permissionDenied("the login provider was changed during the sign-in: sign in again", { check: "changed" });
}

function clearCookie(deps: SignInDeps, { secrets }: Login, reply: PageReply): PageReply {
  const name = cookieName(loginId(secrets.state), isSecure(deps));
  const cookie = loginCookieLine({ name, value: "" }, 0, isSecure(deps));
  const others = [reply.headers?.["set-cookie"] ?? []].flat();
  return { ...reply, headers: { ...reply.headers, "set-cookie": [cookie, ...others] } };
}

function notBegun() {
  const reasons = "it is over, took too long or was begun in another browser, or this one keeps no cookies";
  return invalidField(
    "state",
    `is not that of a sign-in which this browser has under way: ${reasons}; start the sign-in again`,
  );
}
