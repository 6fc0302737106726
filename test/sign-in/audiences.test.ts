// A sign-in for the API, for the registry, or for both: what its tokens open, and what its refresh tokens are good for.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { decodeJwt } from "jose";
import { answersOf, signInAs, signInUrl } from "../harness/browser.ts";
import { rest } from "../harness/rest.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { basic, getToken, service } from "../registry/sign-in.ts";

let server: TestServer;
describe("the audiences of a sign-in", () => {
  before(async () => {
    server = await startTestServer();
  });
  after(() => server[Symbol.asyncDispose]());

  async function signIn(audience: readonly string[]) {
    const parameters = { audience: audience.join(","), create_refresh_token: "true" };
    const { token = "", refresh_token: refreshToken = "" } = answersOf(
      await signInAs("alice", signInUrl(server.url, parameters)),
    );
    return { token, refreshToken };
  }

  async function refresh(refreshToken: string, audience: readonly string[]) {
    const reply = await fetch(`${server.url}/sts/exchange_refresh_token`, {
      method: "POST",
      headers: { authorization: `Bearer ${refreshToken}` },
      body: new URLSearchParams(audience.map((one) => ["aud", one])),
    });
    // biome-ignore lint/suspicious/noExplicitAny: the assertions say what it must be
    return { status: reply.status, body: (await reply.json()) as any };
  }

  /** Returns the statuses of the API and of the registry's token endpoint for a token. */
  async function opens(token: string): Promise<number[]> {
    const api = await rest(server.url, token, "GET", "/auth/v1/ok");
    const registry = await getToken(server.url, basic("_token", token), []);
    return [api.status, registry.status];
  }

  it("a token for both audiences is accepted by both, and can be refreshed to either or both", async () => {
    const { baseUrl } = server.config;
    const both = [baseUrl, service];
    const { token, refreshToken: first } = await signIn(both);
    assert.deepEqual(decodeJwt(token).aud, both);
    assert.deepEqual(await opens(token), [200, 200]);
    let refreshToken = first;
    for (const [audience, expected] of [
      [[service], [401, 200]],
      [[baseUrl], [200, 401]],
      [both, [200, 200]],
    ] as const) {
      const { body } = await refresh(refreshToken, audience);
      assert.deepEqual(await opens(body.token.token), expected);
      refreshToken = body.refreshToken.token;
    }
  });

  it("X3: a sign-in for one is refreshed to none for the other", async () => {
    const { baseUrl } = server.config;
    for (const [own, other] of [
      [baseUrl, service],
      [service, baseUrl],
    ] as const) {
      const { refreshToken } = await signIn([own]);
      for (const audience of [[other], [own, other]]) {
        const { status, body } = await refresh(refreshToken, audience);
        assert.deepEqual([status, body.code], [403, 7]);
      }
      assert.equal((await refresh(refreshToken, [own])).status, 200);
    }
  });
});
