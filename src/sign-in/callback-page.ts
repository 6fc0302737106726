// The second half of a sign-in: the browser returns with an authorization code, which is exchanged for tokens.
import { type ApiError, invalidField, permissionDenied } from "../aip/errors.ts";
import { type HttpRequest, requestTarget } from "../transport/http/message.ts";
import { type PageReply, text } from "../transport/pages/pages.ts";
import { browserOf } from "./access-events.ts";
import { type Attempt, failureReply } from "./error-page.ts";
import { completeSignIn } from "./joining/complete-sign-in.ts";
import { type Login, requireSameClient } from "./login-state.ts";
import { bindingCookieLine, bindingCookieName, rowId } from "./sealed-row.ts";
import { callbackPathOf, isSecure, queryOf, type SignInDeps } from "./sign-in.ts";
import { takeStored } from "./stored-rows.ts";

/** Creates the page that login providers redirect browsers to, with one path per provider. */
export function callbackPage(deps: SignInDeps) {
  return async (request: HttpRequest): Promise<PageReply> => {
    // RFC 9110 §9.2.1: HEAD must not change anything, and a callback works only once.
    if (request.method === "HEAD") return { ...text(405, "Method Not Allowed"), headers: { allow: "GET" } };
    const query = queryOf(request);
    const attempt: Attempt = { client: browserOf(request) };
    try {
      const login = await takeLogin(deps, request, query.getAll("state"), attempt);
      attempt.target = login.request.target;
      return clearCookie(deps, login, await finish(deps, login, request, attempt));
    } catch (error) {
      return failureReply(deps, error, attempt);
    }
  };
}

/** Takes the login that this browser started. Each can be taken once. */
async function takeLogin(
  deps: SignInDeps,
  request: HttpRequest,
  [state = "", second]: readonly string[],
  attempt: Attempt,
): Promise<Login> {
  const { path } = requestTarget(request);
  // Before it is taken: the callback of another provider must not end the login.
  const check = async (login: Login) => {
    if (path === callbackPathOf(login.provider)) return;
    attempt.provider = await deps.providers.choose(login.provider);
    throw otherCallback();
  };
  const login = second === undefined && (await takeStored(deps, "login", state, request.headers.cookie, check));
  if (!login) throw notBegun();
  return login;
}

async function finish(deps: SignInDeps, login: Login, request: HttpRequest, attempt: Attempt): Promise<PageReply> {
  const provider = await deps.providers.choose(login.provider);
  attempt.provider = provider;
  requireSameClient(login, provider);
  const callback = new URL(`${deps.baseUrl}${callbackPathOf(provider.uid)}?${queryOf(request)}`);
  const claims = await deps.upstream.claimsOf(provider, login.secrets, callback);
  return await completeSignIn(deps, { login, provider, claims, client: attempt.client });
}

/**
 * The browser does not return from the provider that it was sent to. The code of one provider must never be sent to another
 * (RFC 9700 §4.4), and a provider may redirect the browser to a second one.
 */
function otherCallback(): ApiError {
  const problem = "the browser came back from another login provider than it was sent to: sign in again";
  return permissionDenied(problem, { check: "redirect_uri" });
}

function clearCookie(deps: SignInDeps, { secrets }: Login, reply: PageReply): PageReply {
  const name = bindingCookieName("login", rowId("login", secrets.state), isSecure(deps));
  const cookie = bindingCookieLine({ name, value: "" }, 0, isSecure(deps));
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
