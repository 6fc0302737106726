// The sessions of browsers: refresh token families that only the session endpoints accept (docs/decisions/0072).
import { createHash, randomBytes } from "node:crypto";
import { ApiError, Code, unauthenticated } from "../../aip/errors.ts";
import type { FailureLimiter } from "../../authn/failure-limiter.ts";
import { isSameSecret } from "../../base/secret-text.ts";
import type { SignIn } from "../../model/sign-in.ts";
import { issueToken } from "../../sts/issue-token.ts";
import { assumptionOf, type RefreshFamily, type RefreshStore, startRefresh } from "../../sts/refresh.ts";
import { parseRefreshToken } from "../../sts/refresh-token.ts";
import { signInLimits } from "../limits.ts";
import type { SignInDeps } from "../sign-in.ts";
import { readSessionCookies, type SessionSecrets, sessionCookies } from "./cookies.ts";

/** Dependencies of the session endpoints. */
export interface SessionDeps extends SignInDeps {
  /** Limits invalid sessions per client address. */
  readonly failures: FailureLimiter;
  /** Throws PERMISSION_DENIED unless everything that allowed the sign-in still holds. */
  readonly recheck: (identityUid: string, signIn: SignIn, signInTime: number) => Promise<void>;
}

/** The session of a browser. */
export interface Session extends RefreshFamily {
  readonly signIn: SignIn & Required<Pick<SignIn, "browser">>;
}

/** Begins the session of a browser that has signed in. Returns the cookies that it needs. */
export async function beginSession(
  { refreshStore: store, clock, baseUrl }: Pick<SignInDeps, "refreshStore" | "clock" | "baseUrl">,
  identityUid: string,
  signIn: SignIn,
  mappings: readonly string[],
): Promise<string[]> {
  const lifetimeMs = mappings.length > 0 ? signInLimits.mappedSessionMs : signInLimits.browserSessionMs;
  const browser = randomBytes(32).toString("base64url");
  const bound = { ...signIn, browser: { browserDigest: digestOf(browser), mappings } };
  const { token } = await startRefresh({ store, clock, lifetimeMs }, identityUid, bound);
  return sessionCookies(baseUrl, { token, browser }, lifetimeMs);
}

/** Returns the session of the cookies of a request. Rejects with UNAUTHENTICATED if there is none that is valid. */
export async function requireSession(deps: SessionDeps, cookies: string | undefined): Promise<Session> {
  const session = await findSession(deps, cookies);
  if (session) return session;
  throw unauthenticated("this browser has no session: sign in");
}

/** Returns the session of the cookies of a request; undefined if there is none that is valid. */
export async function findSession(
  { baseUrl, refreshStore, clock }: Pick<SessionDeps, "baseUrl" | "refreshStore" | "clock">,
  cookies: string | undefined,
): Promise<Session | undefined> {
  const secrets = readSessionCookies(baseUrl, cookies);
  const presented = secrets && parseRefreshToken(secrets.token);
  const family = presented && (await refreshStore.find(presented.family));
  if (!family || !isHeldBy(family, presented.digest, secrets)) return undefined;
  if (!hasEnded(family, clock())) return family;
  await refreshStore.revoke(family.id);
  return undefined;
}

/** Whether a family is the session of the browser that has these cookies. */
function isHeldBy(family: RefreshFamily, digest: string, { browser }: SessionSecrets): family is Session {
  const held = family.signIn.browser;
  return (
    held !== undefined && isSameSecret(family.digest, digest) && isSameSecret(held.browserDigest, digestOf(browser))
  );
}

/** Whether a session has expired, or a browser has not used it for too long. */
export function hasEnded({ signIn, createTime, expireTime }: RefreshFamily, now: number): boolean {
  const lastUse = signIn.lastUseTime ?? createTime;
  return expireTime <= now || (signIn.browser !== undefined && lastUse + signInLimits.browserIdleMs <= now);
}

/** Issues a short API token for a session. Ends the session if what allowed the sign-in no longer holds. */
export async function issueSessionToken(deps: SessionDeps, session: Session) {
  const { id, identityUid, signIn, createTime, expireTime } = session;
  try {
    await deps.recheck(identityUid, signIn, createTime);
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== Code.PERMISSION_DENIED) throw error;
    await deps.refreshStore.revoke(id);
    throw unauthenticated(error.message, error);
  }
  const now = deps.clock();
  const { claims, ...assumption } = assumptionOf(session);
  const notAfter = Math.min(expireTime, now + signInLimits.browserTokenMs);
  const { mappings } = signIn.browser;
  const issued = await issueToken(
    deps,
    { ...assumption, claims: { ...claims, notAfter }, mappings: mappings.length > 0 ? mappings : undefined },
    { audience: signIn.audience, scopes: signIn.scopes, capabilities: undefined, isOfBrowser: true },
  );
  await noteUse(deps, session, now);
  return issued;
}

/** Stores the last use, but not with every token: tabs that share a session would write often. */
async function noteUse({ refreshStore }: SessionDeps, { id, signIn }: Session, now: number): Promise<void> {
  if (now - (signIn.lastUseTime ?? 0) < signInLimits.lastUseMs) return;
  await refreshStore.update(id, { ...signIn, lastUseTime: now });
}

/** Returns the sessions of the person of a session, also those of their programs, the oldest first. */
export async function sessionsOfPerson(
  { refreshStore, clock }: { readonly refreshStore: RefreshStore; readonly clock: SessionDeps["clock"] },
  { identityUid, signIn: { act } }: Session,
): Promise<RefreshFamily[]> {
  const now = clock();
  const all = await refreshStore.listOf(identityUid);
  // Several people may assume one identity.
  return all.filter(
    (family) => family.signIn.act.iss === act.iss && family.signIn.act.sub === act.sub && !hasEnded(family, now),
  );
}

function digestOf(browser: string): string {
  return createHash("sha256").update(`session browser\0${browser}`).digest("hex");
}
