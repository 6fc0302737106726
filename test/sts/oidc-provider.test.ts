import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { issuer } from "../authn/token-fixtures.ts";
import { capabilities, openExchange, outcome, uid } from "./exchange-fixtures.ts";
import { fetchLoopback, keyPair } from "./outside.ts";

/** The used part of the package, which has no types. */
interface ProviderModule {
  readonly default: new (url: string, configuration: object) => { callback(): Parameters<typeof createServer>[1] };
}

const client = { client_id: "workload", client_secret: "only for this test" };

const configurationWith = (jwk: object) => ({
  clients: [
    {
      ...client,
      grant_types: ["client_credentials"],
      redirect_uris: [],
      response_types: [],
      id_token_signed_response_alg: "RS256",
    },
  ],
  jwks: { keys: [jwk] },
  ttl: { ClientCredentials: 600 },
  features: {
    clientCredentials: { enabled: true },
    devInteractions: { enabled: false },
    resourceIndicators: {
      enabled: true,
      getResourceServerInfo: (_context: unknown, resource: string) => ({
        scope: "",
        audience: resource,
        accessTokenFormat: "jwt",
        accessTokenTTL: 600,
        jwt: { sign: { alg: "RS256" } },
      }),
    },
  },
});

/** Returns a private key whose kid stays the same when the key is replaced. */
function namedKey(name: string): object {
  return { ...keyPair("RS256", name).privateKey.export({ format: "jwk" }), kid: "current", use: "sig", alg: "RS256" };
}

/** An OpenID provider of the real make on a free loopback port. */
async function startProvider() {
  // By a name that is not a literal, since there are no types to resolve.
  const name: string = "oidc-provider";
  const { default: Provider } = (await import(name)) as ProviderModule;
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const useKey = (name: string) => {
    server.removeAllListeners("request");
    server.on("request", new Provider(url, configurationWith(namedKey(name))).callback()!);
  };
  useKey("first");
  return {
    url,
    /** Replaces the key, as a provider does after a new installation. */
    useKey,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Returns a token by client_credentials for the given resource. */
async function requestToken(url: string, resource: string): Promise<string> {
  const body = new URLSearchParams({ grant_type: "client_credentials", resource, ...client });
  const response = await fetch(`${url}/token`, { method: "POST", body });
  assert.equal(response.status, 200);
  return ((await response.json()) as { access_token: string }).access_token;
}

describe("a token of oidc-provider", () => {
  it("is exchanged for an API token, and refused for another subject or audience", async () => {
    await using provider = await startProvider();
    const outside = { requests: [], documents: new Map(), fetchJson: fetchLoopback() };
    const exchange = await openExchange(outside);
    exchange.clock.advance(systemClock() - exchange.clock.read());
    const add = (name: string, subject: string) => {
      const value = { iss: { case: "issuer", value: provider.url }, sub: { case: "subject", value: subject } } as const;
      exchange.add(name, { case: "claimMatch", value });
    };
    add("org/id", client.client_id);
    add("org/other", "another");
    const token = await requestToken(provider.url, issuer);

    const { token: own } = await exchange.run({ identity: uid("org/id") }, token);
    const verified = await exchange.node.tokens.verify(own);
    assert.deepEqual(
      [verified.subject, verified.act],
      [uid("org/id"), { iss: provider.url, sub: "workload", aud: issuer }],
    );

    exchange.bound.set(uid("org/id"), new Map([[uid("org"), capabilities("groups.list")]]));
    assert.equal(await outcome(exchange.run({ scope: uid("org") }, token)), "OK");
    assert.match(
      await outcome(exchange.run({ identity: uid("org/other") }, token)),
      /^PERMISSION_DENIED .*invalid "sub"/,
    );
    const elsewhere = await requestToken(provider.url, "https://elsewhere.example");
    assert.match(
      await outcome(exchange.run({ identity: uid("org/id") }, elsewhere)),
      /^PERMISSION_DENIED .*invalid "aud"/,
    );
  });

  it("is exchanged after the provider has replaced its key under the same kid, as often as it does", async () => {
    await using provider = await startProvider();
    const asked: string[] = [];
    const fetchJson = async (url: string) => {
      asked.push(new URL(url).pathname);
      return await fetchLoopback()(url);
    };
    const exchange = await openExchange({ requests: [], documents: new Map(), fetchJson });
    exchange.clock.advance(systemClock() - exchange.clock.read());
    const value = {
      iss: { case: "issuer", value: provider.url },
      sub: { case: "subject", value: "workload" },
    } as const;
    exchange.add("org/id", { case: "claimMatch", value });
    const run = async (token: string) => await outcome(exchange.run({ identity: uid("org/id") }, token));
    const former = await requestToken(provider.url, issuer);
    assert.equal(await run(former), "OK");
    for (const name of ["second", "third"]) {
      provider.useKey(name);
      assert.equal(await run(await requestToken(provider.url, issuer)), "OK");
    }
    const before = asked.length;
    for (let round = 0; round < 10; round++)
      assert.match(await run(former), /^PERMISSION_DENIED verifying token: oidc: failed to verify the signature$/);
    assert.equal(asked.length - before, 2);
  });
});
