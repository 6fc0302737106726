// Sign-in of people through the provider of development mode, from /oauth to a token that works, on both databases.

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { userUid } from "../../src/services/iam/users/user-uid.ts";
import { answersOf, newBrowser, signInAs, signInUrl } from "../harness/browser.ts";
import { databases } from "../harness/databases.ts";
import { rest } from "../harness/rest.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";

for (const database of databases) {
  describe(`signing in, ${database}`, () => {
    let server: TestServer;
    before(async () => {
      server = await startTestServer({ database });
    });
    after(() => server[Symbol.asyncDispose]());

    const issuer = () => `${server.config.baseUrl}/development/login`;
    const visit = (name: string, parameters: Record<string, string> = {}) =>
      signInAs(name, signInUrl(server.url, parameters));
    const refresh = (token: string, form: Record<string, string> = { aud: server.config.baseUrl }) =>
      fetch(`${server.url}/sts/exchange_refresh_token`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}` },
        body: new URLSearchParams(form),
      });

    it("ends with a token of the person's own identity, which works on the API", async () => {
      const { token = "", ...rest_ } = answersOf(await visit("newcomer"));
      assert.deepEqual(rest_, {});
      const { status, body } = await rest(server.url, token, "GET", "/auth/v1/ok");
      assert.equal(status, 200);
      assert.equal(body.subject, userUid(issuer(), "newcomer"));
      assert.deepEqual(body.audience, [server.config.baseUrl]);
      assert.equal(body.email, "newcomer@example.org");
      assert.deepEqual(body.capabilities, []);
    });

    it("recognizes a returning user, and shows their roles", async () => {
      await visit("again");
      const roles = await rest(server.url, server.ownerToken, "GET", "/iam/v2beta1/roles?name=viewer");
      const binding = { identityUid: userUid(issuer(), "again"), roleUid: roles.body.roles[0].uid };
      const bound = await rest(
        server.url,
        server.ownerToken,
        "POST",
        `/iam/v2beta1/roleBindings/${server.groupUid}`,
        binding,
      );
      assert.equal(bound.status, 200);
      // The organization sees a user's data once the user has joined.
      assert.deepEqual(bound.body.identity, { uid: binding.identityUid });
      const { token } = answersOf(await visit("again"));
      const { body } = await rest(server.url, token, "GET", "/auth/v1/ok");
      assert.deepEqual(
        body.capabilities.map((one: { group: { id: string } }) => one.group.id),
        [server.groupUid],
      );
      assert.ok(body.capabilities[0].capabilities.includes("groups.list"));
      assert.equal(body.capabilities[0].role.name, "viewer");
      const groups = await rest(server.url, token, "GET", "/iam/v2beta1/groups");
      assert.deepEqual(
        groups.body.groups.map((group: { uid: string }) => group.uid),
        [server.groupUid],
      );
      assert.equal((await rest(server.url, token, "GET", `/iam/v2beta1/groups/${server.groupUid}`)).status, 200);
      const shown = await rest(server.url, server.ownerToken, "GET", `/iam/v2beta1/roleBindings/${bound.body.uid}`);
      assert.deepEqual([shown.body.identity.issuer, shown.body.identity.subject], [issuer(), "again"]);
    });

    it("skip_registration turns away who is not known, by status_code 404, and lets in who is", async () => {
      const refused = answersOf(await visit("stranger", { skip_registration: "true" }));
      assert.equal(refused.status_code, "404");
      assert.match(refused.error ?? "", /register/);
      assert.equal(refused.token, undefined);
      await visit("stranger");
      assert.ok(answersOf(await visit("stranger", { skip_registration: "true" })).token);
    });

    it("audience names what the token is for; one that is not offered goes back as an error", async () => {
      const refused = answersOf(await visit("newcomer", { audience: "https://elsewhere.example" }));
      assert.equal(refused.status_code, "400");
      assert.match(refused.error ?? "", /audience: ".*" is not an accepted audience; accepted: http:/);
    });

    it("identity assumes an identity that asks for claims like the person's, and no other", async () => {
      const create = (subject: string) =>
        rest(server.url, server.ownerToken, "POST", `/iam/v2beta1/identities/${server.groupUid}`, {
          name: "shared",
          claimMatch: { issuer: issuer(), subject },
        });
      const [own, other] = [(await create("assumer")).body.uid, (await create("someone")).body.uid];
      const parameters = { identity: own, create_refresh_token: "true" };
      const { token = "", refresh_token: first = "" } = answersOf(await visit("assumer", parameters));
      assert.equal((await rest(server.url, token, "GET", "/auth/v1/ok")).body.subject, own);
      // Security case X5: it is refreshed for as long as the identity asks for them.
      const next = (await (await refresh(first)).json()) as { refreshToken: { token: string } };
      const claimMatch = { issuer: issuer(), subject: "someone" };
      await rest(server.url, server.ownerToken, "PATCH", `/iam/v2beta1/identities/${own}`, { claimMatch });
      assert.equal((await refresh(next.refreshToken.token)).status, 403);
      const refused = answersOf(await visit("assumer", { identity: other }));
      assert.equal(refused.status_code, "403");
      assert.match(refused.error ?? "", /invalid "sub"/);
    });

    it("scope narrows the token, by uid or by the name of a group within reach", async () => {
      const made = await rest(server.url, server.ownerToken, "POST", `/iam/v2beta1/groups/${server.groupUid}`, {
        name: "narrow",
      });
      const roles = await rest(server.url, server.ownerToken, "GET", "/iam/v2beta1/roles?name=viewer");
      await visit("narrowed");
      const binding = { identityUid: userUid(issuer(), "narrowed"), roleUid: roles.body.roles[0].uid };
      await rest(server.url, server.ownerToken, "POST", `/iam/v2beta1/roleBindings/${server.groupUid}`, binding);
      for (const scope of [made.body.uid, "narrow"]) {
        // The SDK escapes twice.
        const parameters = { scope: encodeURIComponent(scope), create_refresh_token: "true" };
        const { token, refresh_token: refreshToken = "" } = answersOf(await visit("narrowed", parameters));
        // Security case X3: what it is refreshed to is as narrow.
        const refreshed = (await (await refresh(refreshToken)).json()) as { token: { token: string } };
        for (const each of [token, refreshed.token.token]) {
          const { body } = await rest(server.url, each, "GET", "/iam/v2beta1/groups");
          assert.deepEqual(
            body.groups.map((group: { uid: string }) => group.uid),
            [made.body.uid],
          );
        }
      }
      const refused = answersOf(await visit("narrowed", { scope: "nowhere" }));
      assert.match(refused.error ?? "", /no group has the name/);
    });

    it("create_refresh_token adds one that gives a new token and its own successor", async () => {
      const { token, refresh_token: first = "" } = answersOf(await visit("newcomer", { create_refresh_token: "true" }));
      assert.ok(token);
      const { exp } = JSON.parse(Buffer.from(first, "base64").toString());
      assert.ok(Number.isInteger(exp) && exp > Date.now() / 1000 + 86_400);
      const reply = await refresh(first);
      assert.equal(reply.status, 200);
      assert.equal(reply.headers.get("cache-control"), "no-store");
      const pair = (await reply.json()) as { token: { token: string }; refreshToken: { token: string } };
      assert.deepEqual(Object.keys(pair).sort(), ["refreshToken", "token"]);
      assert.deepEqual(Object.keys(pair.token).sort(), ["expiry", "token"]);
      assert.equal((await rest(server.url, pair.token.token, "GET", "/auth/v1/ok")).status, 200);
      const next = await refresh(pair.refreshToken.token);
      assert.equal(next.status, 200);
    });

    it("a refreshed token never has more access than the sign-in", async () => {
      const signedIn = answersOf(await visit("newcomer", { create_refresh_token: "true" }));
      const token = signedIn.refresh_token ?? "";
      assert.equal((await refresh(token, { aud: "https://elsewhere.example" })).status, 400);
      assert.equal((await refresh(token, {})).status, 400);
      assert.equal((await refresh(token, { aud: server.config.baseUrl, scopes: server.groupUid })).status, 403);
      // None of that has used it up.
      assert.equal((await refresh(token)).status, 200);
    });

    it("a person may delete their own account and nothing else", async () => {
      const { token = "", refresh_token: refreshToken = "" } = answersOf(
        await visit("leaver", { create_refresh_token: "true" }),
      );
      const uid = userUid(issuer(), "leaver");
      assert.equal(
        (await rest(server.url, token, "DELETE", `/auth/v1/delete/${server.ownerUid.slice(0, 40)}`)).status,
        403,
      );
      assert.equal((await rest(server.url, token, "DELETE", `/auth/v1/delete/${uid}`)).status, 200);
      assert.equal((await rest(server.url, token, "GET", "/auth/v1/ok")).status, 401);
      assert.equal((await refresh(refreshToken)).status, 403);
    });

    it("orgcheck returns true or false, and 400 without a name", async () => {
      const check = (query: string) => fetch(`${server.url}/orgcheck${query}`);
      assert.equal(await (await check("?name=example.org")).json(), false);
      assert.equal((await check("")).status, 400);
    });

    it("the callback of another provider does not end a sign-in", async () => {
      const browser = newBrowser();
      const chooser = await browser.visit(signInUrl(server.url));
      let next = `${chooser.url.origin}${chooser.url.pathname}?name=newcomer`;
      while (!new URL(next).pathname.startsWith("/oauth/callback"))
        next = new URL((await browser.request(next)).headers.get("location")!, next).href;
      const other = new URL(next);
      other.pathname = `/oauth/callback/${server.groupUid}/0123456789abcdef`;
      const refused = await browser.visit(other.href);
      assert.equal(refused.status, 403);
      assert.match(refused.text, /another login provider/);
      assert.ok(answersOf(await browser.visit(next)).token);
    });

    it("two tabs of one browser do not disturb each other", async () => {
      const browser = newBrowser();
      const [one, other] = [await browser.visit(signInUrl(server.url)), await browser.visit(signInUrl(server.url))];
      for (const { url } of [other, one]) {
        const end = await browser.visit(`${url.origin}${url.pathname}?name=tabs`);
        assert.ok(answersOf(end).token);
      }
      assert.deepEqual(
        [...browser.cookies.keys()].filter((name) => name.includes("gatehouse-login")),
        [],
      );
    });

    it("a browser at another name of this machine is redirected to the base URL", async () => {
      const { port } = new URL(server.url);
      const end = await signInAs("newcomer", signInUrl(`http://localhost:${port}`));
      assert.ok(answersOf(end).token);
    });
  });
}
