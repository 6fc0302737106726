// The pages beside the API: probes, metrics, discovery.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { createLocalJWKSet, jwtVerify } from "jose";
import { rest } from "../harness/rest.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";

let server: TestServer;

/** A page as a browser or a probe gets it, without a token. */
function get(path: string, method = "GET"): Promise<Response> {
  return fetch(server.url + path, { method });
}

describe("pages", () => {
  before(async () => {
    server = await startTestServer();
  });
  after(() => server[Symbol.asyncDispose]());

  for (const [path, text] of [
    ["/healthz", "ok\n"],
    ["/readyz", "ready\n"],
  ] as const) {
    it(`${path} tells a probe that all is well`, async () => {
      const reply = await get(path);
      assert.deepEqual([reply.status, await reply.text(), reply.headers.get("cache-control")], [200, text, "no-store"]);
    });

    it(`${path} answers HEAD without a body and refuses what would change something`, async () => {
      assert.equal(await (await get(path, "HEAD")).text(), "");
      const refused = await get(path, "POST");
      assert.deepEqual([refused.status, refused.headers.get("allow")], [405, "GET, HEAD"]);
    });
  }

  it("/metrics counts calls by method, door and code, and tells nothing of callers", async () => {
    await rest(server.url, server.ownerToken, "GET", "/iam/v2beta1/groups");
    await rest(server.url, undefined, "GET", "/iam/v2beta1/groups");
    const reply = await get("/metrics");
    const text = await reply.text();
    assert.match(reply.headers.get("content-type") ?? "", /^text\/plain/);
    for (const code of ["OK", "UNAUTHENTICATED"]) {
      const line = text.split("\n").find((each) => each.includes("_count{") && each.includes(`"${code}"`));
      assert.match(line ?? "", /GroupsService\/ListGroups/, code);
      assert.match(line ?? "", /"rest"/, code);
    }
    assert.doesNotMatch(text, new RegExp(server.ownerUid));
  });

  it("discovery leads to the keys, by which anybody verifies a token of ours", async () => {
    const discovery = await get("/.well-known/openid-configuration");
    assert.match(discovery.headers.get("cache-control") ?? "", /^public, max-age=\d+$/);
    const document = (await discovery.json()) as { issuer: string; jwks_uri: string };
    assert.equal(document.issuer, server.config.baseUrl);
    const keys = await (await fetch(document.jwks_uri)).json();
    const options = { issuer: document.issuer, audience: server.config.baseUrl };
    const { payload, protectedHeader } = await jwtVerify(server.ownerToken, createLocalJWKSet(keys as never), options);
    assert.deepEqual([payload.sub, protectedHeader.alg], [server.ownerUid, "RS256"]);
  });

  it("the keys hold nothing private", async () => {
    const { jwks_uri } = (await (await get("/.well-known/openid-configuration")).json()) as { jwks_uri: string };
    const { keys } = (await (await fetch(jwks_uri)).json()) as { keys: Record<string, unknown>[] };
    assert.notEqual(keys.length, 0);
    for (const key of keys) assert.deepEqual(Object.keys(key).sort(), ["alg", "e", "kid", "kty", "n", "use"]);
  });
});
