// Issues the tokens of an identity for the claims of an ID token.

import type { IssuedToken } from "../authn/tokens.ts";
import type { SignIn } from "../model/sign-in.ts";
import { parentOf, rootOf } from "../model/uid.ts";
import { personOf, type Registered } from "../services/auth/registration.ts";
import { knownAmong } from "../services/iam/users/membership.ts";
import type { CallerClient } from "../storage/change-log/access-entries.ts";
import type { Assumption } from "../sts/assumption.ts";
import type { Claims } from "../sts/claim-match.ts";
import { show } from "../sts/denials.ts";
import { issueToken, sessionOf } from "../sts/issue-token.ts";
import { assumeOfOrganization } from "../sts/provider-assumption.ts";
import { startRefresh } from "../sts/refresh.ts";
import { signedIn } from "./access-events.ts";
import { signInLimits } from "./limits.ts";
import type { LoginProvider } from "./login-provider.ts";
import type { LoginRequest } from "./login-request.ts";
import { mappingsOfPerson } from "./mapped-groups.ts";
import { resolveScopes } from "./scopes.ts";
import { beginSession } from "./session/sessions.ts";
import type { SignInDeps } from "./sign-in.ts";

/** The result of a sign-in. */
export interface Granted {
  readonly issued: IssuedToken;
  /** Undefined unless the request asked for one. */
  readonly refreshToken: string | undefined;
  /** The cookies of the browser's session; empty unless the request asked for one. */
  readonly sessionCookies: string[];
}

/** A login whose browser returned. */
export interface CompletedLogin {
  readonly request: LoginRequest;
  readonly provider: LoginProvider;
  readonly client: CallerClient;
}

/** Issues the requested tokens of a registered user. */
export async function issueTokens(
  deps: SignInDeps,
  completed: CompletedLogin,
  claims: Claims,
  { uid: own, groupUid }: Registered,
): Promise<Granted> {
  const { request, provider, client } = completed;
  const assumption = await assume(deps, request.identity, own, provider, claims);
  const { uid, mappings = [] } = assumption;
  const held = await deps.grants.grantsOf(uid, sessionOf(assumption));
  const isKnown = await knownAmong(deps.database.session, [uid]);
  const scopes = await resolveScopes(deps.database.session, request.scopes, held, (group) => isKnown(uid, group));
  const wanted = { audience: request.audience, scopes, capabilities: undefined };
  const issued = await issueToken(deps, assumption, wanted);
  const { act, email, emailVerified } = assumption.claims;
  const signIn: SignIn = {
    act,
    email,
    emailVerified,
    provider: provider.uid,
    audience: request.audience,
    scopes,
    claims: uid === own ? undefined : JSON.stringify(claims),
    client,
  };
  const refreshable = await startRefreshable(deps, request, uid, signIn, mappings);
  const event = { event: "signed_in", identity: uid, provider: provider.uid, issuer: provider.issuer };
  deps.log.info({ ...event, subject: show(claims.sub), ...client }, "sign-in");
  // An organization that the user has not accepted learns nothing of the sign-in.
  const known = [...held.keys()].filter((group) => isKnown(uid, group)).map(rootOf);
  const joined = [provider.organization?.groupUid ?? "", groupUid, ...(scopes ?? [])]
    .filter((group) => group !== "")
    .map(rootOf);
  const groupUids = uid === own ? [...new Set([...known, ...joined])] : [parentOf(uid)];
  deps.accessLog.record(signedIn({ uid, act, groupUids }, provider, client));
  return { issued, ...refreshable };
}

/** Starts the means by which the user stays signed in: a session of the browser, a refresh token, or nothing. */
async function startRefreshable(
  deps: SignInDeps,
  { target, wantsRefreshToken }: LoginRequest,
  uid: string,
  signIn: SignIn,
  mappings: readonly string[],
): Promise<Pick<Granted, "refreshToken" | "sessionCookies">> {
  if ("page" in target)
    return { refreshToken: undefined, sessionCookies: await beginSession(deps, uid, signIn, mappings) };
  const refresh = { store: deps.refreshStore, clock: deps.clock, lifetimeMs: signInLimits.refreshMs };
  // Access by external group role mappings lasts one hour: the provider must confirm the groups again.
  const mayRefresh = wantsRefreshToken && mappings.length === 0;
  const refreshed = mayRefresh ? await startRefresh(refresh, uid, signIn) : undefined;
  return { refreshToken: refreshed?.token, sessionCookies: [] };
}

/** Returns the user's own identity, or the one that the request names if its claim match accepts the claims. */
async function assume(
  deps: SignInDeps,
  wanted: string,
  own: string,
  provider: LoginProvider,
  claims: Claims,
): Promise<Assumption> {
  if (wanted === "" || wanted === own) {
    const mappings = await mappingsOfPerson(deps, provider, claims, own);
    return {
      uid: own,
      claims: personOf(claims).claims,
      narrowing: {},
      mappings: mappings.length > 0 ? mappings : undefined,
    };
  }
  return await assumeOfOrganization(deps.directory, provider, wanted, claims);
}
