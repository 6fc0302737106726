// The other side of a sign-in: the authorization code flow of OpenID Connect, by openid-client.
import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import type * as client from "openid-client";
import { permissionDenied, unavailable } from "../aip/errors.ts";
import { checkIssuer } from "../authn/issuer-url.ts";
import { OutboundError, type OutboundReply, type OutboundRequest } from "../authn/outbound.ts";
import type { Clock } from "../clock.ts";
import { loader, once } from "../lazy.ts";
import type { Claims } from "../sts/claim-match.ts";
import type { LoginProvider } from "./login-provider.ts";
import { withUserInfo } from "./user-info.ts";

const oidc = once((): typeof client => loader(import.meta.url)("openid-client"));

/** What a browser is sent away with, to be compared when it comes back. */
export interface LoginSecrets {
  readonly state: string;
  readonly nonce: string;
  /** RFC 7636. */
  readonly codeVerifier: string;
}

/** What talking to login providers rests on. */
export interface UpstreamOptions {
  /** Sends a request under the rules of authn/outbound.ts. */
  readonly fetch: (url: string, request: OutboundRequest) => Promise<OutboundReply>;
  readonly clock: Clock;
  /** Where browsers come back to from a provider. */
  readonly redirectUriOf: (provider: LoginProvider) => string;
  /** Whether providers on loopback may use plain http. */
  readonly allowInsecureIssuers: boolean;
}

/** Talks to login providers. Both reject with PERMISSION_DENIED or UNAVAILABLE, in words that name no third party's. */
export interface Upstream {
  /** Where to send the browser. */
  authorizationUrl(provider: LoginProvider, secrets: LoginSecrets): Promise<URL>;
  /** What the provider says of the person that the code of this callback stands for: in an ID token that was checked, and beside it. */
  claimsOf(provider: LoginProvider, secrets: LoginSecrets, callback: URL): Promise<Claims>;
}

/** How long a discovery document is used, and how long a failure is remembered, in milliseconds. */
const [documentAge, failureAge] = [10 * 60_000, 10_000];

/** Providers that are remembered. */
const maxProviders = 256;

interface Known {
  readonly configuration: Promise<client.Configuration>;
  until: number;
}

/** Makes the client of all login providers. */
export function newUpstream(options: UpstreamOptions): Upstream {
  const known = new LRUCache<string, Known>({ max: maxProviders });

  async function configurationOf(provider: LoginProvider): Promise<client.Configuration> {
    const key = keyOf(provider);
    let entry = known.get(key);
    if (!entry || options.clock() >= entry.until) {
      const made: Known = { configuration: discover(provider, options), until: options.clock() + documentAge };
      made.configuration.catch(() => {
        made.until = options.clock() + failureAge;
      });
      known.set(key, made);
      entry = made;
    }
    return await entry.configuration;
  }

  return {
    async authorizationUrl(provider, { state, nonce, codeVerifier }) {
      const configuration = await translated(() => configurationOf(provider));
      return oidc().buildAuthorizationUrl(configuration, {
        ...provider.parameters,
        redirect_uri: options.redirectUriOf(provider),
        scope: ["openid", ...provider.scopes].join(" "),
        state,
        nonce,
        code_challenge: await oidc().calculatePKCECodeChallenge(codeVerifier),
        code_challenge_method: "S256",
      });
    },
    async claimsOf(provider, { state, nonce, codeVerifier }, callback) {
      return await translated(async () => {
        const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: codeVerifier };
        const configuration = await configurationOf(provider);
        const tokens = await oidc().authorizationCodeGrant(configuration, callback, {
          ...checks,
          idTokenExpected: true,
        });
        const claims = tokens.claims();
        if (!claims) return {};
        if (configuration.serverMetadata().userinfo_endpoint === undefined) return claims;
        return await withUserInfo(provider, claims, () =>
          oidc().fetchUserInfo(configuration, tokens.access_token, claims.sub),
        );
      });
    },
  };
}

/** A change of any part of a provider makes another one; a secret is not kept as a key. */
function keyOf({ uid, issuer, clientId, clientSecret }: LoginProvider): string {
  return createHash("sha256")
    .update(JSON.stringify([uid, issuer, clientId, clientSecret]))
    .digest("hex");
}

async function discover(provider: LoginProvider, options: UpstreamOptions): Promise<client.Configuration> {
  const { issuer, clientId, clientSecret } = provider;
  const problem = checkIssuer(issuer, options.allowInsecureIssuers);
  if (problem !== undefined) throw new OutboundError("refused", `the issuer ${problem}`);
  const isInsecure = issuer.startsWith("http:");
  const configuration = await oidc()
    .discovery(new URL(issuer), clientId, undefined, clientAuth(clientSecret), {
      [oidc().customFetch]: fetchBy(options.fetch),
      // The signature counts even though the token comes straight from the provider.
      execute: [oidc().enableNonRepudiationChecks, ...(isInsecure ? [oidc().allowInsecureRequests] : [])],
    })
    .catch((error) => {
      throw findOutboundError(error) ?? new OutboundError("refused", whyUndiscovered(error), error);
    });
  const metadata = configuration.serverMetadata();
  // OpenID Connect Discovery 1.0 §4.3: to the letter (security case J6).
  if (metadata.issuer !== issuer) throw new OutboundError("refused", namesAnotherIssuer);
  if (metadata.authorization_endpoint === undefined) throw new OutboundError("refused", "nobody can sign in there");
  const endpoint = URL.parse(metadata.authorization_endpoint);
  if (endpoint?.protocol !== "https:" && !(isInsecure && endpoint?.protocol === "http:")) {
    throw new OutboundError("refused", "the authorization endpoint is not https");
  }
  return configuration;
}

const namesAnotherIssuer = "the discovery document names another issuer";

/** What is wrong at the issuer that was set, in our words and the library's code. */
function whyUndiscovered(error: unknown): string {
  const code = codeOf(error);
  if (code === "OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED") return namesAnotherIssuer;
  return `the issuer has no discovery document that can be read (${code})`;
}

/** RFC 6749 §2.3.1: by the header, unless the provider says that it only reads the body. */
function clientAuth(secret: string): client.ClientAuth {
  if (secret === "") return oidc().None();
  const [basic, post] = [oidc().ClientSecretBasic(secret), oidc().ClientSecretPost(secret)];
  return (server, ...rest) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
    const chosen = methods.includes("client_secret_basic") ? basic : post;
    return chosen(server, ...rest);
  };
}

function fetchBy(send: UpstreamOptions["fetch"]): client.CustomFetch {
  return async (url, { method, headers, body }) => {
    const text = body === undefined || body === null ? undefined : String(body);
    const reply = await send(url, { method, headers, ...(text !== undefined && { body: text }) });
    return new Response(reply.body.toString(), {
      status: reply.status,
      headers: { "content-type": reply.contentType },
    });
  };
}

/** What went wrong, in words for the person. What the provider said stays out: it is for nobody but its operator. */
async function translated<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const outbound = findOutboundError(error);
    if (outbound?.failure === "unavailable") throw unavailable("the login provider does not answer", outbound);
    if (outbound) throw permissionDenied("the login provider cannot be used", { check: outbound.message });
    if (error instanceof oidc().AuthorizationResponseError) throw refusedThere(error.error);
    throw permissionDenied("the sign-in at the login provider could not be verified", { check: codeOf(error) });
  }
}

function findOutboundError(error: unknown): OutboundError | undefined {
  return [error, (error as Error | null)?.cause].find((one) => one instanceof OutboundError);
}

/** RFC 6749 §5.2: such as invalid_grant, for a code that was used already; or what the library calls it. */
function codeOf(error: unknown): string {
  const code = error instanceof oidc().ResponseBodyError ? error.error : (error as { code?: unknown } | null)?.code;
  return typeof code === "string" && /^\w{1,64}$/.test(code) ? code : "unknown";
}

/** RFC 6749 §4.1.2.1: the code of an error is a word; anything else is not repeated. */
function refusedThere(code: string) {
  const known = /^[a-z_]{1,64}$/.test(code) ? code : "unknown error";
  return permissionDenied(`the login provider refused: ${known}`, { check: known });
}
