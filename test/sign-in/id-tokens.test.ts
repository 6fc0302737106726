// Tests of ID tokens in a sign-in: keys that the provider replaces, and numbers that keep their digits.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { newBrowser, signInUrl } from "../harness/browser.ts";
import { rest } from "../harness/rest.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { discoveryPath, keyPair, type OutsideKeyPair } from "../sts/outside.ts";
import { client, loginSettings, startUpstream, type Upstream } from "./openid-client.ts";

/** Returns a number in a spelling of its own. */
const sent = (text: string): unknown => (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(text);

describe("the ID token of a sign-in", () => {
  let server: TestServer;
  let upstream: Upstream;
  before(async () => {
    upstream = await startUpstream();
    server = await startTestServer({ settings: loginSettings(upstream) });
  });
  after(async () => {
    await server[Symbol.asyncDispose]();
    await upstream[Symbol.asyncDispose]();
  });

  /** Signs in, and answers what the program on the person's machine is told. */
  async function signIn(parameters: Record<string, string> = {}) {
    const browser = newBrowser();
    const begun = await browser.request(signInUrl(server.url, parameters));
    const there = new URL(begun.headers.get("location") ?? assert.fail(begun.text));
    const end = await browser.request(upstream.authorize(there));
    return Object.fromEntries(new URL(end.headers.get("location") ?? assert.fail(end.text)).searchParams);
  }

  const publish = (pair: OutsideKeyPair, kid: string | undefined) => {
    upstream.answers["/keys"] = { keys: [{ ...pair.jwk, kid }] };
  };

  it("is verified after the provider has replaced its key under the same kid, or has one without kid", async () => {
    const first = keyPair("RS256");
    assert.ok((await signIn()).token);
    for (const [name, kid] of [
      ["a", first.kid],
      ["b", first.kid],
      ["c", undefined],
    ] as const) {
      const pair = keyPair("RS256", name);
      publish(pair, kid);
      upstream.behaviour.key = { ...pair, kid: kid as string };
      assert.ok((await signIn()).token, name);
    }
    const fetches = () => upstream.asked.filter((path) => path === "/keys").length;
    const before = fetches();
    upstream.behaviour.key = { ...keyPair("RS256", "forged"), kid: undefined as never };
    for (let round = 0; round < 10; round++) assert.match((await signIn()).error ?? "", /could not be verified$/);
    assert.equal(fetches() - before, 1);
    publish(first, first.kid);
    upstream.behaviour.key = first;
  });

  it("numbers in an ID token keep their digits, at the sign-in and at each refresh", async () => {
    async function identityFor(account: string): Promise<string> {
      const claimMatch = { issuer: upstream.issuer, subject: "person", audience: client.id, claims: { account } };
      const path = `/iam/v2beta1/identities/${server.groupUid}`;
      return (await rest(server.url, server.ownerToken, "POST", path, { name: "numbered", claimMatch })).body.uid;
    }
    const [exact, rounded] = [await identityFor("9007199254740993"), await identityFor("9007199254740992")];
    upstream.behaviour.claims = { account: sent("9007199254740993") };
    assert.match((await signIn({ identity: rounded })).error ?? "", /"account": .* has "9007199254740993"$/);
    const { token, refresh_token: refreshToken = "" } = await signIn({ identity: exact, create_refresh_token: "true" });
    assert.ok(token);
    const refreshed = await fetch(`${server.url}/sts/exchange_refresh_token`, {
      method: "POST",
      headers: { authorization: `Bearer ${refreshToken}` },
      body: new URLSearchParams({ aud: server.config.baseUrl }),
    });
    assert.equal(refreshed.status, 200, await refreshed.text());
    upstream.behaviour.claims = {};
  });

  const endpoints: readonly (readonly [name: string, url: string, check: RegExp])[] = [
    ["token_endpoint", "http://issuer.example/token", /cannot be used$/],
    ["userinfo_endpoint", "http://user:pass@127.0.0.1/", /cannot be used$/],
    ["authorization_endpoint", "javascript:alert(1)", /cannot be used$/],
  ];
  for (const [name, url, check] of endpoints) {
    it(`is not asked for where the ${name} breaks a rule`, async () => {
      await using other = await startUpstream();
      Object.assign(other.answers[discoveryPath] as object, { [name]: url });
      await using elsewhere = await startTestServer({ settings: loginSettings(other) });
      const end = await newBrowser().request(signInUrl(elsewhere.url));
      assert.match(
        new URL(end.headers.get("location") ?? assert.fail(end.text)).searchParams.get("error") ?? "",
        check,
      );
      // The check at the start reads the discovery document, too.
      assert.deepEqual([...new Set(other.asked)], [discoveryPath]);
    });
  }
});
