// The first half of a sign-in: /oauth validates the request and redirects the browser to a login provider.
import { rateLimited } from "../aip/errors.ts";
import { windowMs } from "../authn/failure-limiter.ts";
import { findHeadlessSession, insertSignIn } from "../storage/sign-in/sign-ins.ts";
import { clientAddress } from "../transport/http/client-address.ts";
import type { HttpRequest } from "../transport/http/message.ts";
import { hostOf, isLocalName, type PageReply, seeOther } from "../transport/pages/pages.ts";
import { browserOf } from "./access-events.ts";
import { type Attempt, failureReply } from "./error-page.ts";
import { codeUsed } from "./headless.ts";
import { markup, page } from "./html.ts";
import { signInLimits } from "./limits.ts";
import { type LoginRequest, readLoginRequest, readTarget } from "./login-request.ts";
import { startLogin } from "./login-state.ts";
import { bindingCookieLine } from "./sealed-row.ts";
import { isSecure, queryOf, type SignInDeps, startPath } from "./sign-in.ts";
import { userCodeOf } from "./user-code.ts";

const tooMany = "too many people are signing in; try again in a while";

/** Creates the page /oauth. */
export function startPage(deps: SignInDeps) {
  return async (request: HttpRequest): Promise<PageReply> => {
    const elsewhere = otherName(deps, request);
    if (elsewhere !== undefined) return seeOther(elsewhere);
    const query = queryOf(request);
    const attempt: Attempt = { client: browserOf(request) };
    try {
      const target = readTarget(query);
      attempt.target = target;
      spendStart(deps, clientAddress(request));
      return await start(deps, target, readLoginRequest(query, target, deps.audiences), attempt);
    } catch (error) {
      return failureReply(deps, error, attempt);
    }
  };
}

// The cookie of a login is valid for one loopback name, and the provider redirects to that of the base URL.
function otherName({ dev, baseUrl }: SignInDeps, request: HttpRequest): string | undefined {
  const host = hostOf(request);
  if (!dev || host === new URL(baseUrl).host || !isLocalName(host)) return undefined;
  return baseUrl + request.url;
}

/** Counts a sign-in that a client address starts. Throws RESOURCE_EXHAUSTED if it has started too many. */
export function spendStart({ starts }: Pick<SignInDeps, "starts">, client: string): void {
  if (starts.isSpent(client)) throw rateLimited(tooMany, windowMs);
  starts.spend(client);
}

async function start(
  deps: SignInDeps,
  target: ReturnType<typeof readTarget>,
  request: LoginRequest,
  attempt: Attempt,
): Promise<PageReply> {
  // Reported before the user signs in for nothing.
  if ("headlessCode" in target && (await findHeadlessSession(deps.database.session, target.headlessCode)))
    throw codeUsed();
  const { url, cookie } = await beginLogin(deps, request, attempt);
  const reply = "headlessCode" in target ? askFirst(target.headlessCode, url) : seeOther(url.href);
  return { ...reply, headers: { ...reply.headers, "set-cookie": cookie } };
}

/** Stores a login. Returns the address of its provider, and the header that sets the login's cookie. */
export async function beginLogin(
  deps: SignInDeps,
  request: LoginRequest,
  attempt: Attempt,
): Promise<{ readonly url: URL; readonly cookie: string }> {
  const provider = await deps.providers.choose(request.provider);
  attempt.provider = provider;
  const now = deps.clock();
  const started = startLogin(request, provider, now + signInLimits.signInMs, isSecure(deps));
  const parameters = { ...request.hints, ...provider.parameters };
  const url = await deps.upstream.authorizationUrl({ ...provider, parameters }, started.login.secrets);
  const context = { actor: "", method: startPath, requestId: "", time: now };
  const isKept = await deps.database.write(context, (tx) => insertSignIn(tx, started.row, signInLimits.signIns));
  if (!isKept) throw rateLimited(tooMany, signInLimits.fullRetryMs);
  return { url, cookie: bindingCookieLine(started.cookie, signInLimits.signInMs, isSecure(deps)) };
}

/** Warns a user who follows a link from someone else that another device waits for the token. */
function askFirst(code: string, url: URL): PageReply {
  return page(
    200,
    "Sign in for another device",
    markup`<p>A device without a browser asks you to sign in. It will then act in your name.</p>
<p>Its code is <code>${userCodeOf(code)}</code>.</p>
<p>Go on only if you have started this yourself, and the device shows this code.
A device that shows no such code must show an address with <code>${code.slice(0, 8)}</code> after <code>headless_code=</code>.</p>
<p><a class="action" href="${url.href}">Sign in</a></p>`,
  );
}
