// The discovery document, read by a library that verifiers of our tokens use. test/clients/end-to-end/discovery.ts has more.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { createRemoteJWKSet, jwtVerify } from "jose";
import * as oidc from "openid-client";
import { startTestServer, type TestServer } from "../harness/server.ts";

describe("the discovery document", () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer();
  });
  after(() => server[Symbol.asyncDispose]());

  it("is accepted by openid-client, and its keys verify a token", async () => {
    const { baseUrl } = server.config;
    const configuration = await oidc.discovery(new URL(baseUrl), "verifier", undefined, oidc.None(), {
      execute: [oidc.allowInsecureRequests],
    });
    const { issuer, jwks_uri: keys, ...metadata } = configuration.serverMetadata();
    assert.equal(issuer, baseUrl);
    // It refuses to make an address without such an endpoint.
    assert.equal(oidc.buildAuthorizationUrl(configuration, {}).pathname, "/oauth");
    const jwks = createRemoteJWKSet(new URL(keys ?? ""));
    const { payload } = await jwtVerify(server.ownerToken, jwks, { issuer, audience: baseUrl });
    assert.equal(payload.sub, server.ownerUid);
    assert.ok((metadata.claims_supported as string[]).includes("sub"));
  });

  it("names endpoints that exist", async () => {
    const document = (await (await fetch(`${server.url}/.well-known/openid-configuration`)).json()) as Record<
      string,
      string
    >;
    const statuses = ["authorization_endpoint", "token_endpoint"].map(async (member) => {
      const url = new URL(document[member] ?? assert.fail(member));
      const query = new URLSearchParams({ aud: server.config.baseUrl });
      return (await fetch(`${server.url}${url.pathname}?${query}`, { redirect: "manual" })).status;
    });
    // Neither is 404: the first lacks where the token is to go, the second takes POST only.
    assert.deepEqual(await Promise.all(statuses), [400, 405]);
  });
});
