// Tests of the messages to users and operators about a failed sign-in.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { newBrowser, signInUrl } from "../harness/browser.ts";
import { keptLog } from "../harness/kept-log.ts";
import { freePort } from "../harness/postgres.ts";
import { rest } from "../harness/rest.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { viewerRole } from "../security/tree.ts";
import { discoveryPath, startServer } from "../sts/outside.ts";
import { client, startUpstream, type Upstream } from "./openid-client.ts";

describe("a sign-in that fails", () => {
  let server: TestServer;
  let upstream: Upstream;
  const log = keptLog();
  before(async () => {
    upstream = await startUpstream();
    server = await startTestServer({ log: log.stream });
  });
  after(async () => {
    await server[Symbol.asyncDispose]();
    await upstream[Symbol.asyncDispose]();
  });

  const api = async (path: string, body: object) => {
    const created = await rest(server.url, server.ownerToken, "POST", `/iam/v2beta1/${path}/${server.groupUid}`, body);
    assert.equal(created.status, 200, JSON.stringify(created.body));
    return created.body;
  };

  async function createProvider(issuer: string, clientSecret = client.secret): Promise<string> {
    const oidc = { issuer, clientId: client.id, clientSecret };
    return (await api("identityProviders", { name: "own", defaultRole: viewerRole.uid, oidc })).uid;
  }

  /** Signs in, and answers what the program on the person's machine is told. */
  async function signIn(parameters: Record<string, string>): Promise<string> {
    const url = new URL(signInUrl(server.url, parameters));
    url.searchParams.delete("client_id");
    const browser = newBrowser();
    const begun = await browser.request(url.href);
    const there = new URL(begun.headers.get("location") ?? assert.fail(begun.text));
    const end = there.pathname === "/authorize" ? await browser.request(upstream.authorize(there)) : begun;
    const told = new URL(end.headers.get("location") ?? assert.fail(end.text)).searchParams;
    assert.equal(told.get("token"), null);
    return `${told.get("status_code")} ${told.get("error")}`;
  }

  const lastRefusal = () =>
    JSON.parse(log.lines().findLast((line) => line.includes("sign_in_refused")) ?? assert.fail("nothing was logged"));

  const unusable = "403 Permission denied: the login provider cannot be used";
  const document = (issuer: string) => ({
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/keys`,
  });
  const mistakes: readonly [what: string, answers: Record<string, object>, told: string, check: RegExp][] = [
    ["has no discovery document", {}, unusable, /no discovery document that can be read \(OAUTH_\w+\)$/],
    [
      "names another issuer",
      { [discoveryPath]: document("http://127.0.0.1:1") },
      unusable,
      /^the discovery document names another issuer$/,
    ],
  ];
  for (const [what, answers, told, check] of mistakes) {
    it(`the log names a provider whose issuer ${what}, and the problem`, async () => {
      await using issuer = await startServer(answers);
      const provider = await createProvider(issuer.url);
      assert.equal(await signIn({ idp_id: provider }), told);
      const refusal = lastRefusal();
      assert.deepEqual([refusal.provider, refusal.issuer], [provider, issuer.url]);
      assert.match(refusal.check, check);
    });
  }

  it("the log names a provider where nobody can sign in", async () => {
    await using issuer = await startServer();
    const { authorization_endpoint: _, ...without } = document(issuer.url);
    issuer.answers[discoveryPath] = without;
    assert.equal(await signIn({ idp_id: await createProvider(issuer.url) }), unusable);
    assert.equal(lastRefusal().check, "nobody can sign in there");
  });

  it("the log has the system's code for a provider that is down", async () => {
    const issuer = `http://127.0.0.1:${await freePort()}`;
    const provider = await createProvider(issuer);
    assert.equal(await signIn({ idp_id: provider }), "503 Unavailable: the login provider does not answer");
    const refusal = lastRefusal();
    assert.deepEqual([refusal.provider, refusal.issuer], [provider, issuer]);
    assert.match(refusal.check, /ECONNREFUSED/);
  });

  it("the log names a provider that rejects our secret", async () => {
    const provider = await createProvider(upstream.issuer, "wrong-secret");
    assert.match(await signIn({ idp_id: provider }), /^403 .*could not be verified$/);
    const refusal = lastRefusal();
    assert.deepEqual([refusal.provider, refusal.issuer], [provider, upstream.issuer]);
    log.assertNone("wrong-secret", client.secret);
  });

  it("the page tells a user whether an invite is gone, or for another person", async () => {
    const provider = await createProvider(upstream.issuer);
    assert.match(await signIn({ idp_id: provider, invite: "0".repeat(96) }), /^400 Not found: there is no invite/);
    const { code } = await api("groupInvites", { roleUid: viewerRole.uid, ttl: "60s", email: "other@example.org" });
    assert.match(await signIn({ idp_id: provider, invite: code }), /^403 .*sign in with the address that was invited/);
    upstream.behaviour.claims = { email: undefined };
    assert.match(
      await signIn({ idp_id: provider, invite: code }),
      /^403 .*the login provider has not verified your address/,
    );
    assert.equal(lastRefusal().provider, provider);
  });
});
