// The endpoints of browser sessions: the console's page gets its API tokens here. Nothing else accepts the session cookie.

import { invalidField, notFound, permissionDenied } from "../../aip/errors.ts";
import { withFailureLimit } from "../../authn/failure-limiter.ts";
import { isJsonObject } from "../../base/json.ts";
import { consolePath, referencePath } from "../../console/console-pages.ts";
import type { Call } from "../../pipeline/call.ts";
import { clientOf } from "../../pipeline/observe.ts";
import type { RefreshFamily } from "../../sts/refresh.ts";
import { detailTypes } from "../../transport/error-detail-types.ts";
import type { Endpoint, EndpointRequest, EndpointResponse, Endpoints } from "../../transport/pages/endpoints.ts";
import { newErrorResponses } from "../../transport/rest/rest-response.ts";
import { signInLimits } from "../limits.ts";
import { readLoginRequest } from "../login-request.ts";
import { recordSessionEnd, type SessionEnd } from "../session-events.ts";
import { beginLogin, spendStart } from "../start-page.ts";
import { clearedSessionCookies, sessionPath } from "./cookies.ts";
import {
  findSession,
  issueSessionToken,
  requireSession,
  type Session,
  type SessionDeps,
  sessionsOfPerson,
} from "./sessions.ts";

/** Returns the endpoints by path. All take POST, and only from pages of this origin. */
export function sessionEndpoints(deps: SessionDeps): Endpoints {
  const errorReply = newErrorResponses(() => deps.errorDomain, detailTypes);
  const endpoint = (handle: (request: EndpointRequest) => Promise<EndpointResponse>): Endpoint => ({
    methods: ["POST"],
    maxBodyBytes: signInLimits.sessionBodyBytes,
    admit: (call) => requireOwnOrigin(deps, call),
    handle,
    refuse: (error) => errorReply(error, undefined),
  });
  const withSession = (handle: (session: Session, request: EndpointRequest) => Promise<EndpointResponse>) =>
    endpoint(async (request) => {
      const { call } = request;
      const verify = () => requireSession(deps, call.header("cookie"));
      return await handle(await withFailureLimit(deps.failures, { source: call.clientAddress, verify }), request);
    });
  return {
    [`${sessionPath}/sign-in`]: endpoint((request) => startSignIn(deps, request)),
    [`${sessionPath}/token`]: withSession((session) => newToken(deps, session)),
    [`${sessionPath}/list`]: withSession((session) => list(deps, session)),
    [`${sessionPath}/revoke`]: withSession((session, request) =>
      revoke(deps, session, textsOf(request).id ?? "", request.call),
    ),
    [`${sessionPath}/revoke-others`]: withSession((session, { call }) => revokeOthers(deps, session, call)),
    [`${sessionPath}/sign-out`]: endpoint((request) => signOut(deps, request)),
  };
}

/**
 * Browsers state the origin of the page in every POST (https://fetch.spec.whatwg.org/#origin-header), so a page of another
 * site cannot use the session, nor begin a sign-in with a provider of its choice.
 */
function requireOwnOrigin({ baseUrl }: SessionDeps, call: Call): void {
  const { origin } = new URL(baseUrl);
  if (call.header("origin") === origin) return;
  throw permissionDenied(`only pages of ${origin} may use sessions`, { check: "origin" });
}

/** Starts a sign-in, and returns the address of the login provider. */
async function startSignIn(deps: SessionDeps, request: EndpointRequest): Promise<EndpointResponse> {
  const { call } = request;
  const { page = "", ...parameters } = textsOf(request);
  const address = readPage(deps.baseUrl, page);
  if (address === undefined) throw invalidField("page", "must be a path below /console/ or /docs/api");
  spendStart(deps, call.clientAddress);
  const replaces = (await findSession(deps, call.header("cookie")))?.id ?? "";
  const wanted = readLoginRequest(new URLSearchParams(parameters), { page: address, replaces }, deps.audiences);
  const { url, cookie } = await beginLogin(deps, wanted, { client: clientOf(call) });
  return json({ url: url.href }, { "set-cookie": cookie });
}

async function newToken(deps: SessionDeps, session: Session): Promise<EndpointResponse> {
  const { token, expiresAt } = await issueSessionToken(deps, session);
  return json({ token, expireTime: timeOf(expiresAt), identity: session.identityUid });
}

async function list(deps: SessionDeps, session: Session): Promise<EndpointResponse> {
  const all = await sessionsOfPerson(deps, session);
  return json({ sessions: all.map((each) => describe(each, each.id === session.id)) });
}

function describe({ id, signIn, createTime, expireTime }: RefreshFamily, isCurrent: boolean): object {
  const { lastUseTime, browser, client: { client, userAgent } = {} } = signIn;
  return {
    id,
    isCurrent,
    isBrowser: browser !== undefined,
    createTime: timeOf(createTime),
    expireTime: timeOf(expireTime),
    lastUseTime: lastUseTime === undefined ? undefined : timeOf(lastUseTime),
    client,
    userAgent,
  };
}

async function revoke(deps: SessionDeps, session: Session, id: string, call: Call): Promise<EndpointResponse> {
  const found = (await sessionsOfPerson(deps, session)).find((each) => each.id === id);
  if (!found) throw notFound("session", id.slice(0, 64));
  await end(deps, [found], "session_revoked", call);
  return json({}, found.id === session.id ? { "set-cookie": clearedSessionCookies(deps.baseUrl) } : {});
}

async function revokeOthers(deps: SessionDeps, session: Session, call: Call): Promise<EndpointResponse> {
  const others = (await sessionsOfPerson(deps, session)).filter(({ id }) => id !== session.id);
  await end(deps, others, "session_revoked", call);
  return json({ revoked: others.length });
}

/** Succeeds without a session, too: the cookies of an ended one are deleted. */
async function signOut(deps: SessionDeps, { call }: EndpointRequest): Promise<EndpointResponse> {
  const session = await findSession(deps, call.header("cookie"));
  if (session) await end(deps, [session], "signed_out", call);
  return json({}, { "set-cookie": clearedSessionCookies(deps.baseUrl) });
}

async function end(deps: SessionDeps, families: readonly RefreshFamily[], why: SessionEnd, call: Call): Promise<void> {
  for (const family of families) {
    await deps.refreshStore.revoke(family.id);
    deps.log.info({ event: "session_ended", identity: family.identityUid }, "sign-in");
    recordSessionEnd(deps, why, family, call);
  }
}

/** Returns the members of the body, which must be an object of texts; absent for an empty body. */
function textsOf(request: EndpointRequest): Readonly<Record<string, string>> {
  const body = request.json();
  if (!isJsonObject(body)) throw invalidField("body", "must be a JSON object");
  for (const [name, value] of Object.entries(body))
    if (typeof value !== "string") throw invalidField(name.slice(0, 64), "must be a text");
  return body as Record<string, string>;
}

function json(value: object, headers: EndpointResponse["headers"] = {}): EndpointResponse {
  return {
    status: 200,
    headers: { "content-type": "application/json", "referrer-policy": "no-referrer", ...headers },
    body: `${JSON.stringify(value)}\n`,
  };
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}

const maxLength = 2048;

/**
 * Returns the address of a page of the console or of the API reference, given as a path. Returns undefined for anything else: a sign-in must not lead
 * to another site (CWE-601).
 */
function readPage(baseUrl: string, page: string): string | undefined {
  if (page.length > maxLength || !isConsolePage(page)) return undefined;
  const url = URL.parse(page, baseUrl);
  const isOwn = url?.origin === new URL(baseUrl).origin && isConsolePage(url.pathname);
  return isOwn ? url.href : undefined;
}

function isConsolePage(path: string): boolean {
  return path === referencePath || [consolePath, `${referencePath}/`].some((prefix) => path.startsWith(prefix));
}
