// OpenID providers of the real make (oidc-provider) that sign in the user of a browser's cookie, without asking.
import { generateKeyPairSync } from "node:crypto";
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { Browser } from "../harness/browser.ts";
import { certificate, certificateKey } from "../transport/certificate.ts";

/** The used part of the package, which has no types. */
interface Provider {
  callback(): RequestListener;
  interactionFinished(request: IncomingMessage, response: ServerResponse, result: object): Promise<void>;
  readonly Grant: new (of: {
    accountId: string;
    clientId: string;
  }) => {
    addOIDCScope(scopes: string): void;
    save(): Promise<string>;
  };
}

/** The client that this server is at a provider. */
export interface RegisteredClient {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly redirectUris: readonly string[];
}

/** A running provider. */
export interface RealProvider extends AsyncDisposable {
  readonly issuer: string;
  /** Registers clients; those before are gone. */
  register(...clients: readonly RegisteredClient[]): void;
  /** Signs a browser in as a user. */
  signIn(browser: Browser, person: string): void;
  /** Takes requests before the provider does; answers whether it has taken one. */
  intercept: (request: IncomingMessage, response: ServerResponse) => boolean;
}

/**
 * Starts a provider without clients. `sendsIssuer` says whether it states its issuer in callbacks (RFC 9207); with `tls`, it has the
 * certificate of the tests.
 */
export async function startRealProvider({
  sendsIssuer,
  tls = false,
}: {
  readonly sendsIssuer: boolean;
  readonly tls?: boolean;
}): Promise<RealProvider> {
  // By a name that is not a literal, since there are no types to resolve.
  const name: string = "oidc-provider";
  const { default: OidcProvider } = (await import(name)) as {
    default: new (issuer: string, configuration: object) => Provider;
  };
  const server = tls ? createTlsServer({ cert: certificate, key: certificateKey }) : createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const issuer = `${tls ? "https" : "http"}://${host}`;
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const jwks = { keys: [{ ...privateKey.export({ format: "jwk" }), use: "sig", alg: "RS256" }] };
  let provider: Provider;
  const real: RealProvider = {
    issuer,
    register(...clients) {
      provider = new OidcProvider(issuer, { ...configurationFor(clients), jwks });
    },
    signIn(browser, person) {
      const cookie = { host, path: "/", name: "person", value: person };
      browser.cookies.set(`${host} / person`, cookie);
    },
    intercept: () => false,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  real.register();
  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    if (real.intercept(request, response)) return;
    if (!sendsIssuer) dropIssuer(response);
    if (!request.url?.startsWith("/interaction/")) return provider.callback()(request, response);
    const accountId = /\bperson=(\w+)/.exec(request.headers.cookie ?? "")?.[1] ?? "nobody";
    void provider.interactionFinished(request, response, { login: { accountId } });
  });
  return real;
}

function configurationFor(clients: readonly RegisteredClient[]): object {
  return {
    clients: clients.map(({ clientId, clientSecret, redirectUris }) => ({
      client_id: clientId,
      redirect_uris: redirectUris,
      ...(clientSecret === "" ? { token_endpoint_auth_method: "none" } : { client_secret: clientSecret }),
    })),
    cookies: { keys: ["only for this test"] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"] },
    conformIdTokenClaims: false,
    findAccount: (_context: unknown, id: string) => ({ accountId: id, claims: () => ({ sub: id, name: id }) }),
    loadExistingGrant: grantAll,
    ttl: { Interaction: 600, Session: 600, Grant: 600, AuthorizationCode: 60, IdToken: 600, AccessToken: 600 },
  };
}

interface Context {
  readonly oidc: {
    readonly provider: Provider;
    readonly client: { readonly clientId: string };
    readonly session: { readonly accountId: string };
  };
}

async function grantAll({ oidc: { provider, client, session } }: Context) {
  const grant = new provider.Grant({ accountId: session.accountId, clientId: client.clientId });
  grant.addOIDCScope("openid email profile");
  await grant.save();
  return grant;
}

/** Has a provider be one that came before RFC 9207. */
function dropIssuer(response: ServerResponse): void {
  const setHeader = response.setHeader.bind(response);
  response.setHeader = (name, value) => {
    if (name.toLowerCase() !== "location" || !URL.canParse(String(value))) return setHeader(name, value);
    const url = new URL(String(value));
    url.searchParams.delete("iss");
    return setHeader(name, url.href);
  };
  const end = response.end.bind(response) as (chunk?: unknown, ...rest: unknown[]) => ServerResponse;
  response.end = ((chunk?: unknown, ...rest: unknown[]) => {
    if (!String(chunk).includes("authorization_response_iss_parameter_supported")) return end(chunk, ...rest);
    const { authorization_response_iss_parameter_supported: _, ...document } = JSON.parse(String(chunk));
    const text = JSON.stringify(document);
    response.setHeader("content-length", Buffer.byteLength(text));
    return end(text);
  }) as typeof response.end;
}
