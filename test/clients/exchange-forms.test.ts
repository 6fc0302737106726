// The forms in which the platform's SDK and others ask for an exchange, and the reply that the SDK reads strictly: one
// member that it does not know fails its login.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import { decodeJwt, decodeProtectedHeader } from "jose";
import { SecurityTokenService } from "../../gen/chainguard/platform/oidc/oidc_pb.ts";
import { rest } from "../harness/rest.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { bind, viewerRole } from "../security/tree.ts";
import { keyPair, signOutside, startIssuer } from "../sts/outside.ts";

describe("the forms of an exchange", () => {
  let server: TestServer;
  let issuer: Awaited<ReturnType<typeof startIssuer>>;
  let identity: string;
  let token: string;
  before(async () => {
    server = await startTestServer({ settings: { audiences: "registry.example" } });
    issuer = await startIssuer(keyPair("RS256"));
    const claimMatch = { issuer: issuer.url, subject: "ci" };
    const path = `/iam/v2beta1/identities/${server.groupUid}`;
    ({ uid: identity } = (await rest(server.url, server.ownerToken, "POST", path, { name: "ci", claimMatch })).body);
    await bind(server, server.groupUid, identity, viewerRole.uid);
    const now = Math.floor(Date.now() / 1000);
    const claims = { iss: issuer.url, sub: "ci", aud: server.url, iat: now, exp: now + 600 };
    token = await signOutside(keyPair("RS256"), claims);
  });
  after(async () => {
    await server[Symbol.asyncDispose]();
    await issuer[Symbol.asyncDispose]();
  });

  const parameters = () => new URLSearchParams({ aud: server.url, identity });
  const form = () => ({
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: `${parameters()}&scope=&scopes=${server.groupUid}&cap=groups.list&identity_provider=`,
  });
  const forms: Record<string, () => [path: string, init: RequestInit]> = {
    "the SDK's form": () => ["", form()],
    "the specification's GET": () => [`?${parameters()}`, {}],
    "the TypeScript client's POST with a query": () => [`?${parameters()}`, { method: "POST" }],
  };
  for (const [name, of] of Object.entries(forms)) {
    it(`${name} is answered 200 with at most three members, and no redirect`, async () => {
      const [query, init] = of();
      const headers = { ...init.headers, authorization: `Bearer ${token}` };
      const reply = await fetch(`${server.url}/sts/exchange${query}`, { ...init, headers, redirect: "manual" });
      assert.equal(reply.status, 200, await reply.clone().text());
      const body = (await reply.json()) as Record<string, string>;
      assert.deepEqual(Object.keys(body), ["token", "expiry"]);
      assert.equal(Date.parse(body.expiry ?? ""), (decodeJwt(body.token ?? "").exp ?? 0) * 1000);
    });
  }

  it("gRPC returns the same response", async () => {
    const sessionManager = new Http2SessionManager(server.url);
    const client = createClient(SecurityTokenService, createGrpcTransport({ baseUrl: server.url, sessionManager }));
    const headers = { authorization: `Bearer ${token}` };
    const reply = await client.exchange({ aud: [server.url], identity }, { headers });
    assert.deepEqual([decodeJwt(reply.token).sub, reply.refreshToken], [identity, ""]);
    sessionManager.abort();
  });

  it("the token has a kid, ES256 for this service alone and RS256 for others too, one audience as a string and several as a list, for an hour", async () => {
    const ask = async (query: string) =>
      (await rest(server.url, token, "POST", `/sts/exchange?identity=${identity}&${query}`)).body.token;
    const one = await ask(`aud=${server.url}`);
    assert.equal(decodeProtectedHeader(one).alg, "ES256");
    assert.ok(decodeProtectedHeader(one).kid);
    const { aud, iss, exp = 0, iat = 0, act } = decodeJwt(one);
    assert.deepEqual([aud, iss, exp - iat], [server.url, server.url, 3600]);
    assert.deepEqual(act, { iss: issuer.url, sub: "ci", aud: server.url });
    const two = await ask(`aud=${server.url}&aud=registry.example`);
    assert.equal(decodeProtectedHeader(two).alg, "RS256");
    assert.deepEqual(decodeJwt(two).aud, [server.url, "registry.example"]);
  });

  it("an audience that is not configured is rejected by name, and none at all in the words that the SDK knows", async () => {
    const other = await rest(server.url, token, "POST", `/sts/exchange?aud=https://elsewhere.example`);
    assert.deepEqual([other.status, other.body.code], [400, 3]);
    assert.match(other.body.message, /aud\[0\]: ".*" is not an accepted audience; accepted: http:/);
    const none = await rest(server.url, token, "POST", "/sts/exchange");
    assert.deepEqual([none.status, none.body.message], [400, "Audience must be specified"]);
  });
});
