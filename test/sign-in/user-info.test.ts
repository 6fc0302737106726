// OpenID Connect Core 1.0 §5.4: what scopes ask for may be told at the UserInfo endpoint only.
import assert from "node:assert/strict";
import type { IncomingMessage } from "node:http";
import { after, before, beforeEach, describe, it } from "node:test";
import { newBrowser, signInUrl } from "../harness/browser.ts";
import { rest } from "../harness/rest.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { viewerRole } from "../security/tree.ts";
import { discoveryPath, writeJson } from "../sts/outside.ts";
import { client, startUpstream, type Upstream } from "./openid-client.ts";

describe("a provider with a UserInfo endpoint", () => {
  let server: TestServer;
  let upstream: Upstream;
  let provider: string;
  let told: object;
  let status: number;
  let asked: (string | undefined)[];

  before(async () => {
    upstream = await startUpstream();
    Object.assign(upstream.answers[discoveryPath] as object, { userinfo_endpoint: `${upstream.issuer}/userinfo` });
    upstream.answers["/userinfo"] = (request: IncomingMessage, response) => {
      asked.push(request.headers.authorization);
      response.statusCode = status;
      writeJson(response, told);
    };
    server = await startTestServer({});
    await rest(server.url, server.ownerToken, "PATCH", `/iam/v2beta1/groups/${server.groupUid}`, { verified: true });
    provider = await createProvider(["email", "profile"]);
    const mapping = { externalGroupId: "staff", roleUid: viewerRole.uid, scope: server.groupUid };
    await create(`externalGroupRoleMappings/${provider}`, mapping);
  });
  after(async () => {
    await server[Symbol.asyncDispose]();
    await upstream[Symbol.asyncDispose]();
  });
  beforeEach(() => {
    upstream.behaviour.claims = { email: undefined, email_verified: undefined, name: undefined };
    told = { sub: "person", email: "told@example.org", email_verified: true, groups: ["staff"] };
    status = 200;
    asked = [];
  });

  async function create(path: string, body: object): Promise<string> {
    const created = await rest(server.url, server.ownerToken, "POST", `/iam/v2beta1/${path}`, body);
    assert.equal(created.status, 200, JSON.stringify(created.body));
    return created.body.uid;
  }

  const createProvider = (additionalScopes: readonly string[], groupsClaim = "groups") => {
    const oidc = { issuer: upstream.issuer, clientId: client.id, clientSecret: client.secret, groupsClaim };
    const own = { name: "own", defaultRole: viewerRole.uid, oidc: { ...oidc, additionalScopes } };
    return create(`identityProviders/${server.groupUid}`, own);
  };

  async function signIn(idpId = provider): Promise<Record<string, string>> {
    const url = new URL(signInUrl(server.url, { idp_id: idpId }));
    url.searchParams.delete("client_id");
    const browser = newBrowser();
    const { headers } = await browser.request(url.href);
    const end = await browser.request(upstream.authorize(new URL(headers.get("location")!)));
    return Object.fromEntries(new URL(end.headers.get("location")!).searchParams);
  }

  const payloadOf = (token = "") => JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());

  it("the UserInfo endpoint is asked for claims that the ID token lacks, with the access token", async () => {
    const { token } = await signIn();
    const { email, email_verified } = payloadOf(token);
    assert.deepEqual([email, email_verified], ["told@example.org", true]);
    assert.deepEqual(asked, ["Bearer canary-access-token"]);
    const { body } = await rest(server.url, token ?? "", "GET", "/iam/v2beta1/groups");
    assert.deepEqual(
      body.groups.map(({ uid }: { uid: string }) => uid),
      [server.groupUid],
    );
  });

  it("the UserInfo endpoint is not asked if the ID token has all claims, or the provider requests no more", async () => {
    upstream.behaviour.claims = { groups: [] };
    assert.equal(payloadOf((await signIn()).token).email, "person@example.org");
    upstream.behaviour.claims = { email: undefined };
    assert.equal(payloadOf((await signIn(await createProvider([], ""))).token).email, undefined);
    assert.deepEqual(asked, []);
  });

  it("UserInfo does not overrule the ID token, which may say that an address is unverified", async () => {
    upstream.behaviour.claims = { email: "person@example.org", email_verified: false };
    const { email, email_verified } = payloadOf((await signIn()).token);
    assert.deepEqual([email, email_verified, asked.length], ["person@example.org", false, 1]);
  });

  it("UserInfo about another subject ends the sign-in", async () => {
    told = { ...told, sub: "someone else" };
    assert.match((await signIn()).error ?? "", /could not be verified/);
  });

  it("an endpoint that does not respond ends the sign-in, because users would have too few groups", async () => {
    status = 500;
    assert.match((await signIn()).error ?? "", /does not answer/);
  });
});
