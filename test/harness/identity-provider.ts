// An OpenID provider of the real make (oidc-provider) on loopback, for workloads that need tokens of their own.
import { generateKeyPairSync } from "node:crypto";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";

/** The used part of the package, which has no types. */
interface ProviderModule {
  readonly default: new (issuer: string, configuration: object) => { callback(): RequestListener };
}

/** A running provider. */
export interface IdentityProvider extends AsyncDisposable {
  /** Its issuer URL. */
  readonly issuer: string;
  /** Issues a token to a workload for an audience. The subject of the token is the name of the workload. */
  issueToken(workload: string, audience: string): Promise<string>;
}

const secret = "only for this test";
const tokenLifetime = 600;

/** Starts a provider that knows these workloads. */
export async function startIdentityProvider(workloads: readonly string[]): Promise<IdentityProvider> {
  // By a name that is not a literal, since there are no types to resolve.
  const name: string = "oidc-provider";
  const { default: Provider } = (await import(name)) as ProviderModule;
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  server.on("request", new Provider(issuer, configurationFor(workloads)).callback());
  return {
    issuer,
    issueToken: (workload, audience) => requestToken(issuer, workload, audience),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function configurationFor(workloads: readonly string[]): object {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  return {
    clients: workloads.map((workload) => ({
      client_id: workload,
      client_secret: secret,
      grant_types: ["client_credentials"],
      redirect_uris: [],
      response_types: [],
    })),
    jwks: { keys: [{ ...privateKey.export({ format: "jwk" }), use: "sig", alg: "RS256" }] },
    ttl: { ClientCredentials: tokenLifetime },
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
      resourceIndicators: { enabled: true, getResourceServerInfo: resourceServer },
    },
  };
}

/** RFC 8707: access tokens for a resource are JWTs with it as their audience. */
function resourceServer(_context: unknown, resource: string): object {
  const jwt = { sign: { alg: "RS256" } };
  return { scope: "", audience: resource, accessTokenFormat: "jwt", accessTokenTTL: tokenLifetime, jwt };
}

/** RFC 6749 §4.4. */
async function requestToken(issuer: string, workload: string, audience: string): Promise<string> {
  const body = new URLSearchParams({
    grant_type: "client_credentials",
    client_id: workload,
    client_secret: secret,
    resource: audience,
  });
  const reply = await fetch(`${issuer}/token`, { method: "POST", body });
  if (reply.status !== 200) throw new Error(`the provider answered ${reply.status}: ${await reply.text()}`);
  return ((await reply.json()) as { access_token: string }).access_token;
}
