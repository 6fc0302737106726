// Composes the sign-in of users.

import type { Logger } from "pino";
import type { AccessLog } from "../access-log/access-log.ts";
import { permissionDenied } from "../aip/errors.ts";
import { type FailureLimiter, newFailureLimiter } from "../authn/failure-limiter.ts";
import type { Issuers } from "../authn/issuers.ts";
import { parseExactly } from "../base/json.ts";
import type { Config } from "../config/config.ts";
import type { SignIn } from "../model/sign-in.ts";
import type { OutboundReply, OutboundRequest } from "../outbound/http.ts";
import { refreshStore } from "../services/auth/refresh-store.ts";
import type { ProviderTesting } from "../services/iam/identity-providers/provider-tests.ts";
import { admitPerson, isAdmitted, requireProvisioned } from "../services/iam/provisioning/admission.ts";
import { userUid } from "../services/iam/users/user-uid.ts";
import type { Database } from "../storage/database.ts";
import type { Encryption } from "../storage/installation/encryption.ts";
import type { IdentityDirectory } from "../sts/assumable-identity.ts";
import { assumeWithClaims } from "../sts/assumption.ts";
import { type Audiences, exactAudiences } from "../sts/audiences.ts";
import { type Claims, normalizeIssuer } from "../sts/claim-match.ts";
import type { IssueDeps } from "../sts/issue-token.ts";
import type { OrganizationProvider } from "../sts/provider-assumption.ts";
import { newRefresh } from "../sts/refresh.ts";
import type { HttpRequest } from "../transport/http/message.ts";
import type { Endpoints } from "../transport/pages/endpoints.ts";
import { type PageReply, type Pages, text } from "../transport/pages/pages.ts";
import { callbackPage } from "./callback-page.ts";
import { markup, page } from "./html.ts";
import { joinEndpoint } from "./joining/join-endpoint.ts";
import { joinPath } from "./joining/question.ts";
import { signInLimits } from "./limits.ts";
import type { LoginProvider } from "./login-provider.ts";
import { mappingsOfPerson } from "./mapped-groups.ts";
import { newUpstream, type UpstreamOptions } from "./openid-client.ts";
import { newProviderTest } from "./provider-test.ts";
import { loginProviders, type Providers } from "./providers.ts";
import { sessionEndpoints } from "./session/endpoints.ts";
import { recordSessionEnd } from "./session-events.ts";
import { callbackPath, callbackPathOf, donePath, queryOf, type SignInDeps, startPath } from "./sign-in.ts";
import { startPage } from "./start-page.ts";

/** Options of the sign-in. */
export interface OpenSignInOptions extends IssueDeps {
  readonly config: Config;
  readonly database: Database;
  readonly encryption: Encryption;
  readonly directory: IdentityDirectory;
  /** The operator's login provider. */
  readonly login: LoginProvider | undefined;
  readonly audiences: Audiences;
  /** Limits invalid tokens per client address. */
  readonly failures: FailureLimiter;
  readonly fetch: (url: string, request: OutboundRequest) => Promise<OutboundReply>;
  readonly issuers: Issuers;
  readonly log: Logger;
  readonly accessLog: Pick<AccessLog, "record">;
  readonly outcomes: SignInDeps["outcomes"];
}

/** The pages of the sign-in, and what the token service uses of it. */
export interface OpenedSignIn extends ProviderTesting {
  readonly pages: Pages;
  /** The page that asks whether a person joins an organization, and takes the answer. */
  readonly signInEndpoints: Endpoints;
  /** The endpoints of browser sessions. */
  readonly sessionEndpoints: Endpoints;
  readonly exchangeRefreshToken: ReturnType<typeof newRefresh>;
  /** Finds the identity providers of organizations, for the exchange of their tokens. */
  readonly findProvider: (uid: string) => Promise<OrganizationProvider | undefined>;
}

/** Throws unless the identity provider of an organization admits the person of a token (docs/design/sign-in.md). */
async function admitToOrganization(
  { database, clock }: Pick<OpenSignInOptions, "database" | "clock">,
  providerUid: string,
  claims: Claims,
): Promise<void> {
  const person = { providerUid, claims };
  if (await isAdmitted(database.session, person)) return;
  const context = { actor: "", method: "exchange", requestId: "", time: clock() };
  await database.write(context, (tx) => admitPerson(tx, person));
}

/** Returns the function that finds identity providers of organizations for the token exchange. */
function providerFinder(options: OpenSignInOptions, providers: Providers): OpenedSignIn["findProvider"] {
  return async (uid) => {
    const provider = await providers.find(uid);
    if (!provider) return undefined;
    return {
      ...provider,
      admit: (claims) => admitToOrganization(options, uid, claims),
      mappingsOf: (claims, userUid) => mappingsOfPerson(options, provider, claims, userUid),
    };
  };
}

/** Composes the sign-in. */
export function openSignIn(options: OpenSignInOptions): OpenedSignIn {
  const { config, database, clock, audiences, log, directory } = options;
  const providers = loginProviders(database.session, options.encryption, options.login);
  const store = refreshStore(database, clock, signInLimits.refreshFamilies);
  const upstreamOptions: UpstreamOptions = {
    fetch: options.fetch,
    issuers: options.issuers,
    clock,
    redirectUriOf: ({ uid }) => config.baseUrl + callbackPathOf(uid),
    allowInsecureIssuers: config.dev,
  };
  const deps: SignInDeps = {
    ...options,
    providers,
    upstream: newUpstream(upstreamOptions),
    refreshStore: store,
    baseUrl: config.baseUrl,
    trustedEmailIssuers: config.trustedEmailIssuers,
    starts: newFailureLimiter({ perSecond: signInLimits.signInsPerSecond, sources: 10_000 }, clock),
    dev: config.dev,
    errorDomain: `iam.${config.domain}`,
  };
  const recheck = newRecheck(directory, providers, (providerUid, identityUid) =>
    requireProvisioned(database.session, providerUid, identityUid),
  );
  const exchangeRefreshToken = newRefresh({
    ...options,
    store,
    audiences,
    lifetimeMs: signInLimits.refreshMs,
    recheck,
    log: (event, call, reused) => {
      log.info(event, "refresh");
      if (reused) recordSessionEnd(deps, "refresh_token_reused", reused, call);
    },
  });
  return {
    pages: signInPages(deps),
    signInEndpoints: { [joinPath]: joinEndpoint(deps) },
    sessionEndpoints: sessionEndpoints({ ...deps, failures: options.failures, recheck }),
    exchangeRefreshToken,
    findProvider: providerFinder(options, providers),
    testProvider: newProviderTest(providers, upstreamOptions),
  };
}

/** Returns the pages by path. */
function signInPages(deps: SignInDeps): Pages {
  const callback = callbackPage(deps);
  return {
    [startPath]: startPage(deps),
    [callbackPath]: callback,
    [`${callbackPath}/`]: callback,
    [donePath]: () =>
      page(200, "You are signed in", markup`<p>Go back to the other device. You can close this page.</p>`),
    "/orgcheck": (request) => organizationCheck(deps, request),
  };
}

/** Reports whether users of an organization sign in with their own provider. Answers for verified names only. */
async function organizationCheck(deps: SignInDeps, request: HttpRequest): Promise<PageReply> {
  const name = queryOf(request).get("name") ?? "";
  if (name === "") return text(400, "name is required");
  const answer = await deps.providers.hasProvider(name);
  return { status: 200, contentType: "application/json", text: `${JSON.stringify(answer)}\n` };
}

/**
 * Creates the check that precedes each refresh: everything that allowed the sign-in must still hold (security case X5).
 */
function newRecheck(
  directory: IdentityDirectory,
  providers: Pick<Providers, "find">,
  requireProvisioned: (providerUid: string, identityUid: string) => Promise<void>,
) {
  return async (identityUid: string, signIn: SignIn, signInTime: number): Promise<void> => {
    const provider = await providers.find(signIn.provider);
    if (!provider || !isSame(provider, signIn.act)) {
      throw permissionDenied("the login provider of the sign-in is no longer in use: sign in again");
    }
    const { iss = "", sub = "" } = signIn.act;
    if (provider.organization) await requireProvisioned(provider.uid, userUid(iss, sub));
    const claims = typeof signIn.claims === "string" ? (parseExactly(signIn.claims) as Claims) : signIn.claims;
    if (claims) {
      await assumeWithClaims(directory, identityUid, claims, exactAudiences(provider.clientId));
      await requireUser(directory, signIn, signInTime);
    } else if (!(await directory.find(identityUid))) throw permissionDenied("the identity does not exist any more");
  };
}

/** Throws unless the user who assumed another identity is still registered, and has not registered again since. */
async function requireUser(directory: IdentityDirectory, { act }: SignIn, signInTime: number): Promise<void> {
  const user = await directory.findUser(act.iss ?? "", act.sub ?? "");
  if (!user || user.createTime > signInTime) throw permissionDenied("the person who signed in does not exist any more");
}

function isSame({ issuer, clientId }: LoginProvider, { iss = "", aud = "" }: SignIn["act"]): boolean {
  return normalizeIssuer(iss) === normalizeIssuer(issuer) && aud.split(",").includes(clientId);
}
