// The client of login providers: the authorization code flow of OpenID Connect, by the library openid-client.
import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import type * as client from "openid-client";
import { ApiError, Code, permissionDenied, unavailable } from "../aip/errors.ts";
import type { Issuers } from "../authn/issuers.ts";
import { retryDelayMs } from "../authn/retry-delay.ts";
import type { Clock } from "../base/clock.ts";
import { checkEndpoint, checkIssuer } from "../model/issuer-url.ts";
import { OutboundError } from "../outbound/error.ts";
import type { OutboundReply, OutboundRequest } from "../outbound/http.ts";
import type { Claims } from "../sts/claim-match.ts";
import { parseSubjectToken, verifySigned } from "../sts/subject-token.ts";
import type { LoginProvider } from "./login-provider.ts";
import { withUserInfo } from "./user-info.ts";

type Library = typeof client;

/** Loads openid-client, which a server needs only when users sign in. */
const loadLibrary = (): Promise<Library> => import("openid-client");

/** The secrets of a login that the callback is checked against. */
export interface LoginSecrets {
  readonly state: string;
  readonly nonce: string;
  /** RFC 7636. */
  readonly codeVerifier: string;
}

/** Options of the client. */
export interface UpstreamOptions {
  /** Sends a request under the rules of outbound/http.ts. */
  readonly fetch: (url: string, request: OutboundRequest) => Promise<OutboundReply>;
  /** Finds the keys that ID tokens are signed with. */
  readonly issuers: Issuers;
  readonly clock: Clock;
  /** Returns the redirect URI for a provider. */
  readonly redirectUriOf: (provider: LoginProvider) => string;
  /** Whether providers on loopback may use plain http. */
  readonly allowInsecureIssuers: boolean;
}

/**
 * Talks to login providers. Both methods reject with PERMISSION_DENIED or UNAVAILABLE, without any text of the
 * provider.
 */
export interface Upstream {
  /** Returns the address to redirect the browser to. */
  authorizationUrl(provider: LoginProvider, secrets: LoginSecrets): Promise<URL>;
  /**
   * Exchanges the code of a callback and returns the verified claims of the user, from the ID token and from UserInfo.
   */
  claimsOf(provider: LoginProvider, secrets: LoginSecrets, callback: URL): Promise<Claims>;
}

/** How long a discovery document is cached, in milliseconds. */
const documentAge = 10 * 60_000;

/** The maximum number of cached providers. */
const maxProviders = 256;

interface Known {
  readonly configuration: Promise<client.Configuration>;
  until: number;
  /** The number of failed discoveries in a row, including this one. */
  failures: number;
}

/** Creates the client for all login providers. */
export function newUpstream(options: UpstreamOptions): Upstream {
  const configurationOf = newConfigurationCache(options);
  return {
    async authorizationUrl(provider, { state, nonce, codeVerifier }) {
      const oidc = await loadLibrary();
      const configuration = await translated(() => configurationOf(provider));
      return oidc.buildAuthorizationUrl(configuration, {
        ...provider.parameters,
        redirect_uri: options.redirectUriOf(provider),
        scope: ["openid", ...provider.scopes].join(" "),
        state,
        nonce,
        code_challenge: await oidc.calculatePKCECodeChallenge(codeVerifier),
        code_challenge_method: "S256",
      });
    },
    async claimsOf(provider, { state, nonce, codeVerifier }, callback) {
      const oidc = await loadLibrary();
      return await translated(async () => {
        const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: codeVerifier };
        const configuration = await configurationOf(provider);
        const tokens = await oidc.authorizationCodeGrant(configuration, callback, {
          ...checks,
          idTokenExpected: true,
        });
        const claims = await verifiedClaims(provider, tokens.id_token ?? "", options);
        const { sub } = tokens.claims() ?? {};
        if (sub === undefined || configuration.serverMetadata().userinfo_endpoint === undefined) return claims;
        return await withUserInfo(provider, claims, () => oidc.fetchUserInfo(configuration, tokens.access_token, sub));
      });
    },
  };
}

/** Returns the function that finds the configuration of a provider, which is discovered on first use and then cached. */
function newConfigurationCache(options: UpstreamOptions) {
  const known = new LRUCache<string, Known>({ max: maxProviders });

  return async (provider: LoginProvider): Promise<client.Configuration> => {
    const key = keyOf(provider);
    let entry = known.get(key);
    if (!entry || options.clock() >= entry.until) {
      const failuresBefore = entry?.failures ?? 0;
      const configuration = discover(provider, options);
      const made: Known = { configuration, until: options.clock() + documentAge, failures: 0 };
      configuration.catch(() => {
        made.failures = failuresBefore + 1;
        made.until = options.clock() + retryDelayMs(made.failures);
      });
      known.set(key, made);
      entry = made;
    }
    return await entry.configuration;
  };
}

/**
 * Returns the claims of an ID token after verifying its signature. The signature is checked even though the token came
 * directly from the provider. The library checks everything else, but loses precision of numbers and keeps replaced
 * keys.
 */
async function verifiedClaims(provider: LoginProvider, idToken: string, { issuers }: UpstreamOptions) {
  const presented = parseSubjectToken(idToken);
  if (!presented) throw new OutboundError("refused", "the ID token is not a signed JSON Web Token");
  return await verifySigned(presented, () => issuers.keysFor(provider.issuer));
}

/** A change in any part of a provider makes another key. The secret itself is not kept in it. */
function keyOf({ uid, issuer, clientId, clientSecret }: LoginProvider): string {
  return createHash("sha256")
    .update(JSON.stringify([uid, issuer, clientId, clientSecret]))
    .digest("hex");
}

/** Reads the discovery document of a provider now. Rejects with an OutboundError. */
export async function discover(provider: LoginProvider, options: UpstreamOptions): Promise<client.Configuration> {
  const { issuer, clientId, clientSecret } = provider;
  const problem = checkIssuer(issuer, options.allowInsecureIssuers);
  if (problem !== undefined) throw new OutboundError("refused", `the issuer ${problem}`);
  const isInsecure = issuer.startsWith("http:");
  const oidc = await loadLibrary();
  const configuration = await oidc
    .discovery(new URL(issuer), clientId, undefined, clientAuth(oidc, clientSecret), {
      [oidc.customFetch]: fetchBy(options.fetch),
      execute: isInsecure ? [oidc.allowInsecureRequests] : [],
    })
    .catch((error) => {
      throw findOutboundError(error) ?? new OutboundError("refused", whyUndiscovered(oidc, error), error);
    });
  const metadata = configuration.serverMetadata();
  // OpenID Connect Discovery 1.0 §4.3: compared exactly (security case J6).
  if (metadata.issuer !== issuer) throw new OutboundError("refused", namesAnotherIssuer);
  if (metadata.authorization_endpoint === undefined) throw new OutboundError("refused", "nobody can sign in there");
  checkEndpoints(metadata, issuer);
  return configuration;
}

/** Checks the endpoint that browsers are sent to, and those that this server calls. */
function checkEndpoints(metadata: client.ServerMetadata, issuer: string): void {
  const names = ["authorization_endpoint", "token_endpoint", "userinfo_endpoint"] as const;
  for (const name of names) {
    const problem = metadata[name] === undefined ? undefined : checkEndpoint(metadata[name], issuer);
    if (problem !== undefined) throw new OutboundError("refused", `the ${name.replace("_", " ")} ${problem}`);
  }
}

const namesAnotherIssuer = "the discovery document names another issuer";

/** Returns what is wrong at the issuer, in our words and with the library's error code. */
function whyUndiscovered(oidc: Library, error: unknown): string {
  const code = codeOf(oidc, error);
  if (code === "OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED") return namesAnotherIssuer;
  return `the issuer has no discovery document that can be read (${code})`;
}

/** RFC 6749 §2.3.1: in the header, unless the provider only supports the body. */
function clientAuth(oidc: Library, secret: string): client.ClientAuth {
  if (secret === "") return oidc.None();
  const [basic, post] = [oidc.ClientSecretBasic(secret), oidc.ClientSecretPost(secret)];
  return (server, ...rest) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
    const chosen = methods.includes("client_secret_basic") ? basic : post;
    return chosen(server, ...rest);
  };
}

function fetchBy(send: UpstreamOptions["fetch"]): client.CustomFetch {
  return async (url, { method, headers, body }) => {
    const text = body === undefined || body === null ? undefined : String(body);
    const reply = await send(url, { method, headers, body: text });
    return new Response(reply.body.toString(), {
      status: reply.status,
      headers: { "content-type": reply.contentType },
    });
  };
}

/** Translates errors for the user. What the provider said stays out: it is meant for its operator only. */
async function translated<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const outbound = findOutboundError(error);
    if (outbound?.failure === "untrusted")
      throw unavailable(`the login provider cannot be asked: ${outbound.message}`, outbound);
    if (outbound?.failure === "unavailable") throw unavailable(noAnswer, outbound);
    if (outbound) throw permissionDenied("the login provider cannot be used", { check: outbound.message });
    const oidc = await loadLibrary();
    if (error instanceof oidc.AuthorizationResponseError) throw refusedThere(error.error);
    if (error instanceof ApiError && error.code === Code.UNAVAILABLE) throw unavailable(noAnswer, error.cause);
    throw permissionDenied("the sign-in at the login provider could not be verified", { check: codeOf(oidc, error) });
  }
}

const noAnswer = "the login provider does not answer";

function findOutboundError(error: unknown): OutboundError | undefined {
  return [error, (error as Error | null)?.cause].find((one) => one instanceof OutboundError);
}

/**
 * Returns the error code of RFC 6749 §5.2, such as invalid_grant for a code that was used before, or the library's
 * code.
 */
export function codeOf(oidc: Library, error: unknown): string {
  if (error instanceof ApiError) return error.metadata.check ?? "unknown";
  const code = error instanceof oidc.ResponseBodyError ? error.error : (error as { code?: unknown } | null)?.code;
  return typeof code === "string" && /^\w{1,64}$/.test(code) ? code : "unknown";
}

/** RFC 6749 §4.1.2.1: an error code is a single word; anything else is not repeated. */
function refusedThere(code: string) {
  const known = /^[a-z_]{1,64}$/.test(code) ? code : "unknown error";
  return permissionDenied(`the login provider refused: ${known}`, { check: known });
}
