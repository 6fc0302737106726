// The standard token endpoint through the wire: the three grants, what a client names, and errors as OAuth has them.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { decodeJwt } from "jose";
import * as oauth from "openid-client";
import { builtInRoles } from "../../src/authz/built-in-roles.ts";
import { databases } from "../harness/databases.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { rest } from "../harness/rest.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { keyPair, signOutside, startIssuer } from "./outside.ts";

after(stopPostgres);

const tokenType = "urn:ietf:params:oauth:token-type:";
const exchangeGrant = "urn:ietf:params:oauth:grant-type:token-exchange";
const bearerGrant = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

for (const database of databases) {
  describe(`the standard token endpoint on ${database}`, () => {
    const key = keyPair("ES256");
    let server: TestServer;
    let issuer: Awaited<ReturnType<typeof startIssuer>>;
    let identity: string;
    before(async () => {
      server = await startTestServer({ database });
      issuer = await startIssuer(key);
      const claimMatch = { issuer: issuer.url, subject: "job" };
      identity = (await create(`identities/${server.groupUid}`, { name: "job", claimMatch })).uid;
      const roleUid = builtInRoles.find(({ name }) => name === "viewer")!.uid;
      await create(`roleBindings/${server.groupUid}`, { identityUid: identity, roleUid });
    });
    after(async () => {
      await issuer[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    });

    async function create(path: string, body: object) {
      const created = await rest(server.url, server.ownerToken, "POST", `/iam/v2beta1/${path}`, body);
      assert.equal(created.status, 200, JSON.stringify(created.body));
      return created.body;
    }

    const subjectToken = (changes: object = {}) => {
      const exp = Math.floor(Date.now() / 1000) + 600;
      return signOutside(key, { iss: issuer.url, sub: "job", aud: server.config.baseUrl, exp, ...changes });
    };
    async function post(form: Record<string, string> | [string, string][], headers = {}, query = "") {
      const body = new URLSearchParams(form);
      const response = await fetch(`${server.url}/sts/token${query}`, {
        method: "POST",
        headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
        body,
      });
      assert.equal(response.headers.get("cache-control"), "no-store");
      assert.equal(response.headers.get("content-type"), "application/json");
      // biome-ignore lint/suspicious/noExplicitAny: responses are untyped JSON
      return { status: response.status, body: (await response.json()) as any };
    }
    const exchangeForm = async (changes: Record<string, string> = {}) => ({
      grant_type: exchangeGrant,
      subject_token: await subjectToken(),
      subject_token_type: `${tokenType}jwt`,
      client_id: identity,
      ...changes,
    });

    it("RFC 8693 §2.2.1: exchanges a token for an API token, which works, and names its type and lifetime", async () => {
      const { status, body } = await post(await exchangeForm());
      const { access_token: token, ...others } = body;
      assert.deepEqual(
        [status, others],
        [200, { token_type: "Bearer", expires_in: others.expires_in, issued_token_type: `${tokenType}access_token` }],
      );
      assert.ok(others.expires_in > 3500 && others.expires_in <= 3600);
      const { sub, aud, act } = decodeJwt(token);
      assert.deepEqual([sub, aud], [identity, server.config.baseUrl]);
      assert.deepEqual(act, { iss: issuer.url, sub: "job", aud: server.config.baseUrl });
      assert.equal((await rest(server.url, token, "GET", "/iam/v2beta1/groups")).status, 200);
    });

    it("RFC 7523 §2.1 and §2.2: takes an assertion as a grant, and as the credential of a client", async () => {
      const assertion = await subjectToken();
      const query = `?identity=${encodeURIComponent(identity)}`;
      const forms: Record<string, string>[] = [
        { grant_type: bearerGrant, assertion },
        { grant_type: "client_credentials", client_assertion_type: assertionType, client_assertion: assertion },
      ];
      for (const form of forms) {
        const { status, body } = await post(form, {}, query);
        assert.deepEqual([status, body.token_type, body.issued_token_type], [200, "Bearer", undefined]);
        assert.equal(decodeJwt(body.access_token).sub, identity);
      }
    });

    it("takes the client in the form, in Basic credentials and in the query: an identity, or a group in which it is", async () => {
      for (const client of [identity, server.groupUid]) {
        const { client_id: _, ...form } = await exchangeForm();
        const basic = `Basic ${btoa(`${encodeURIComponent(client)}:`)}`;
        for (const reply of [
          await post({ ...form, client_id: client }),
          await post(form, { authorization: basic }),
          await post(form, {}, `?identity=${encodeURIComponent(client)}`),
          await post(
            { ...form, client_id: client },
            { authorization: basic },
            `?identity=${encodeURIComponent(client)}`,
          ),
        ])
          assert.deepEqual(
            [reply.status, decodeJwt(reply.body.access_token).sub],
            [200, identity],
            JSON.stringify(reply),
          );
      }
    });

    it("a scope of groups and capabilities narrows the token, and names the group where there is no client", async () => {
      const { client_id: _, ...form } = await exchangeForm();
      const { status, body } = await post({ ...form, scope: `${server.groupUid} groups.list` });
      assert.deepEqual([status, body.scope], [200, `${server.groupUid} groups.list`]);
      assert.equal((await rest(server.url, body.access_token, "GET", "/iam/v2beta1/groups")).status, 200);
      assert.equal((await rest(server.url, body.access_token, "GET", "/iam/v2beta1/roles")).status, 403);
      const google = await post(await exchangeForm({ scope: "https://www.googleapis.com/auth/cloud-platform" }));
      assert.deepEqual([google.status, google.body.scope], [200, undefined]);
    });

    it("audience and resource name accepted audiences, each as often as needed", async () => {
      const form = Object.entries(await exchangeForm()) as [string, string][];
      const named: [string, string][] = [
        ["audience", server.config.baseUrl],
        ["resource", server.config.baseUrl],
        ["audience", server.config.registry.service],
      ];
      const { status, body } = await post([...form, ...named]);
      assert.equal(status, 200);
      assert.deepEqual(decodeJwt(body.access_token).aud, [server.config.baseUrl, server.config.registry.service]);
    });

    it("RFC 8693 §3: our own access token is exchanged as one, and can only become narrower", async () => {
      const first = await post(await exchangeForm({ scope: "groups.list" }));
      const own = { subject_token: first.body.access_token, subject_token_type: `${tokenType}access_token` };
      const again = await post(await exchangeForm(own));
      assert.equal(again.status, 200);
      assert.equal((await rest(server.url, again.body.access_token, "GET", "/iam/v2beta1/roles")).status, 403);
      const inGroup = await post(await exchangeForm({ ...own, client_id: server.groupUid }));
      assert.equal(decodeJwt(inGroup.body.access_token).sub, identity);
      const wider = await post(await exchangeForm({ ...own, scope: "roles.list" }));
      assert.deepEqual([wider.status, wider.body.error], [400, "invalid_request"]);
    });

    it("a denied token has the error of its grant, and the description names the claim", async () => {
      const denied = await subjectToken({ sub: "other" });
      const replies = [
        await post(await exchangeForm({ subject_token: denied })),
        await post({ grant_type: bearerGrant, assertion: denied, client_id: identity }),
        await post({
          grant_type: "client_credentials",
          client_assertion_type: assertionType,
          client_assertion: denied,
          client_id: identity,
        }),
      ];
      assert.deepEqual(
        replies.map(({ status, body }) => [status, body.error]),
        [
          [400, "invalid_request"],
          [400, "invalid_grant"],
          [401, "invalid_client"],
        ],
      );
      for (const { body } of replies)
        assert.equal(body.error_description, "Permission denied: invalid 'sub': the subject token has 'other'");
    });

    const wrong: readonly (readonly [what: string, change: Record<string, string>, error: string, status?: number])[] =
      [
        ["another grant", { grant_type: "password" }, "unsupported_grant_type"],
        ["no grant", { grant_type: "" }, "invalid_request"],
        ["the name of an inherited member as grant", { grant_type: "constructor" }, "unsupported_grant_type"],
        ["no subject token", { subject_token: "" }, "invalid_request"],
        ["a malformed subject token", { subject_token: "a.b.c" }, "invalid_request"],
        ["an actor token", { actor_token: "a.b.c" }, "invalid_request"],
        ["SAML", { subject_token_type: `${tokenType}saml2` }, "invalid_request"],
        ["an access token of another issuer", { subject_token_type: `${tokenType}access_token` }, "invalid_request"],
        ["a refresh token as a result", { requested_token_type: `${tokenType}refresh_token` }, "invalid_request"],
        ["another audience", { audience: "https://elsewhere.example" }, "invalid_target"],
        ["another resource", { resource: "https://elsewhere.example" }, "invalid_target"],
        ["an unknown scope", { scope: "openid" }, "invalid_scope"],
        [
          "the scope of Google's libraries next to a capability",
          { scope: "https://www.googleapis.com/auth/cloud-platform groups.list" },
          "invalid_scope",
        ],
        ["a client other than a uid", { client_id: "ci" }, "invalid_request"],
        ["a client secret", { client_secret: "s" }, "invalid_client", 401],
      ];
    for (const [what, change, error, expected = 400] of wrong) {
      it(`${what} is ${error}`, async () => {
        const { status, body } = await post(await exchangeForm(change));
        assert.deepEqual([status, body.error, Object.keys(body)], [expected, error, ["error", "error_description"]]);
        assert.match(body.error_description, /^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/);
      });
    }

    it("two clients that differ, a secret in Basic credentials, and another scheme are errors", async () => {
      const form = await exchangeForm();
      const differs = await post(form, {}, `?identity=${server.groupUid}`);
      assert.deepEqual([differs.status, differs.body.error], [400, "invalid_request"]);
      for (const authorization of [`Basic ${btoa("a:secret")}`, "Bearer a.b.c", `Basic ${btoa("%zz:")}`]) {
        const { status, body } = await post(form, { authorization });
        assert.deepEqual([status, body.error], [401, "invalid_client"], authorization);
      }
    });

    it("X14: a token in the query is an error, regardless of the form", async () => {
      const { status, body } = await post(await exchangeForm(), {}, `?subject_token=${await subjectToken()}`);
      assert.deepEqual([status, body.error], [400, "invalid_request"]);
      assert.match(body.error_description, /subject_token: must be in the form/);
    });

    it("other methods have an error of OAuth, too", async () => {
      const got = await fetch(`${server.url}/sts/token`);
      assert.deepEqual([got.status, ((await got.json()) as { error: string }).error], [405, "invalid_request"]);
    });

    it("openid-client finds the endpoint by RFC 8414, and gets a token by each grant", async () => {
      const { url, config } = server;
      for (const grant of ["exchange", "assertion", "client"] as const) {
        const assertion = await subjectToken();
        const authenticate: oauth.ClientAuth =
          grant === "client"
            ? (_, __, body) => {
                body.set("client_assertion_type", assertionType);
                body.set("client_assertion", assertion);
              }
            : oauth.None();
        const client = await oauth.discovery(new URL(config.baseUrl), identity, undefined, authenticate, {
          algorithm: "oauth2",
          execute: [oauth.allowInsecureRequests],
        });
        assert.equal(client.serverMetadata().token_endpoint, `${url}/sts/token`);
        const response =
          grant === "client"
            ? await oauth.clientCredentialsGrant(client, { client_id: identity })
            : grant === "assertion"
              ? await oauth.genericGrantRequest(client, bearerGrant, { assertion, client_id: identity })
              : await oauth.genericGrantRequest(client, exchangeGrant, {
                  subject_token: assertion,
                  subject_token_type: `${tokenType}jwt`,
                });
        assert.equal(decodeJwt(response.access_token).sub, identity, grant);
      }
    });
  });
}
