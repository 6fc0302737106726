// Sign-in through an organization's own identity provider: its default role, and the roles of groups there.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, describe, it } from "node:test";
import { builtInRoles } from "../../src/authz/built-in-roles.ts";
import { userUid } from "../../src/services/iam/users/user-uid.ts";
import { maxCandidates } from "../../src/sts/assumable-identity.ts";
import { newBrowser } from "../harness/browser.ts";
import { databases } from "../harness/databases.ts";
import { rest } from "../harness/rest.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { stoppedClock, type TurnableClock } from "../security/ground.ts";
import { viewerRole } from "../security/tree.ts";
import { client, signInBy, startUpstream, type Upstream } from "./openid-client.ts";

const editorRole = builtInRoles.find(({ name }) => name === "editor")!;

for (const database of databases) {
  describe(`an organization's provider, ${database}`, () => {
    let server: TestServer;
    let upstream: Upstream;
    let clock: TurnableClock;
    let provider: string;
    let repos = 0;

    const api = (method: string, path: string, body?: object) =>
      rest(server.url, server.ownerToken, method, `/iam/v2beta1/${path}`, body);

    async function createProvider(groupUid: string): Promise<string> {
      const oidc = { issuer: upstream.issuer, clientId: client.id, clientSecret: client.secret, groupsClaim: "groups" };
      const created = await api("POST", `identityProviders/${groupUid}`, {
        name: "own",
        defaultRole: viewerRole.uid,
        oidc: { ...oidc, additionalScopes: ["email", "groups"] },
      });
      assert.equal(created.status, 200, JSON.stringify(created.body));
      return created.body.uid;
    }

    before(async () => {
      upstream = await startUpstream();
      clock = stoppedClock();
      server = await startTestServer({ database, clock: clock.read });
      await api("PATCH", `groups/${server.groupUid}`, { verified: true, kind: "ORG_KIND_CUSTOMER" });
      provider = await createProvider(server.groupUid);
    });
    after(async () => {
      await server[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
    });

    async function signIn(
      claims: Record<string, unknown>,
      parameters: Record<string, string> = {},
    ): Promise<Record<string, string>> {
      // An address may start 20 sign-ins in a second.
      clock.advance(100);
      const named = { idp_id: provider, ...parameters };
      return Object.fromEntries(await signInBy(upstream, server.url, named, claims));
    }

    const call = async (token: string | undefined, method: string, path: string, body?: object) =>
      (await rest(server.url, token, method, `/iam/v2beta1/${path}`, body)).status;

    it("a provider is found by its uid, and by the name of a verified organization", async () => {
      assert.ok((await signIn({ sub: "by-uid" })).token);
      assert.ok((await signIn({ sub: "by-name" }, { idp_id: "example.org" })).token);
      assert.equal(upstream.requests.at(-1)?.get("scope"), "openid email groups");
      assert.match(
        (await signIn({}, { idp_id: "elsewhere.example" })).error ?? "",
        /no verified organization of this name/,
      );
      const orgcheck = await fetch(`${server.url}/orgcheck?name=example.org`);
      assert.equal(await orgcheck.json(), true);
    });

    it("an organization with several providers is asked which one, and each is found by its uid", async () => {
      const second = await createProvider(server.groupUid);
      const { error = "" } = await signIn({ sub: "undecided" }, { idp_id: "example.org" });
      assert.match(error, /the organization has several identity providers: name one/);
      assert.ok((await signIn({ sub: "decided" }, { idp_id: second })).token);
      await api("DELETE", `identityProviders/${second}`);
    });

    it("gives its default role at the first sign-in only", async () => {
      const { token } = await signIn({ sub: "newcomer" });
      assert.equal(await call(token, "GET", `groups/${server.groupUid}`), 200);
      const { body } = await api("GET", `roleBindings?identity=${userUid(upstream.issuer, "newcomer")}`);
      assert.deepEqual(
        body.roleBindings.map((one: { role: { uid: string } }) => one.role.uid),
        [viewerRole.uid],
      );
      await api("DELETE", `roleBindings/${body.roleBindings[0].uid}`);
      const again = await signIn({ sub: "newcomer" });
      assert.ok(again.token);
      assert.equal(await call(again.token, "GET", `groups/${server.groupUid}`), 403);
    });

    it("lets in subjects as long as they can be found by, and rejects longer ones", async () => {
      // Of random characters, since databases compress others.
      const longest = randomBytes(2600)
        .toString("base64url")
        .slice(0, 2600 - upstream.issuer.length);
      assert.ok((await signIn({ sub: longest })).token);
      const claimMatch = { issuer: upstream.issuer, subject: longest.slice(0, 2048) };
      assert.equal((await api("POST", `identities/${server.groupUid}`, { name: "long", claimMatch })).status, 200);
      const { error = "", status_code: status } = await signIn({ sub: `${longest}x` });
      assert.match(error, /the subject of the login provider is too long/);
      assert.equal(status, "403");
    });

    it("group mappings hold for the session, without a refresh token, and end with the mapping", async () => {
      const mapping = { externalGroupId: "engineering", roleUid: editorRole.uid, scope: server.groupUid };
      const created = await api("POST", `externalGroupRoleMappings/${provider}`, mapping);
      assert.equal(created.status, 200, JSON.stringify(created.body));
      const update = (token: string | undefined) =>
        rest(server.url, token, "POST", `/registry/v2beta1/repos/${server.groupUid}`, { name: `repo-${repos++}` });

      const outside = await signIn({ sub: "sales", groups: ["sales", 1, null] }, { create_refresh_token: "true" });
      assert.ok(outside.refresh_token);
      assert.equal((await update(outside.token)).status, 403);

      const { token = "", refresh_token: refreshToken } = await signIn(
        { sub: "engineer", groups: ["sales", "engineering"] },
        { create_refresh_token: "true" },
      );
      assert.equal(refreshToken, undefined);
      assert.equal((await update(token)).status, 200);
      // Nothing was bound: the next session without the group has none of it.
      assert.equal((await update((await signIn({ sub: "engineer", groups: [] })).token)).status, 403);

      // The token keeps them when it is exchanged for another one of its own.
      const exchanged = await rest(server.url, token, "POST", `/sts/exchange?aud=${server.config.baseUrl}`);
      assert.equal((await update(exchanged.body.token)).status, 200);

      await api("DELETE", `externalGroupRoleMappings/${created.body.uid}`);
      assert.equal((await update(token)).status, 403);
      assert.equal((await update(exchanged.body.token)).status, 403);
    });

    it("group mappings hold for an hour in the session of a browser, and end with the mapping", async () => {
      const mapping = { externalGroupId: "consoles", roleUid: editorRole.uid, scope: server.groupUid };
      const created = await api("POST", `externalGroupRoleMappings/${provider}`, mapping);
      upstream.behaviour.claims = { sub: "console-user", groups: ["consoles"] };
      const browser = newBrowser();
      const session = (name: string, body?: object) => browser.post(`${server.url}/oauth/session/${name}`, body);
      const begun = await session("sign-in", { page: "/console/", idp_id: provider });
      const end = await browser.request(upstream.authorize(new URL(JSON.parse(begun.text).url)));
      assert.equal(end.headers.get("location"), `${server.url}/console/`);
      assert.match(end.headers.getSetCookie().join("\n"), /gatehouse-session-\d+=[^;]+;.*Max-Age=3600/);
      const { token } = JSON.parse((await session("token")).text);
      const update = (one: string) =>
        rest(server.url, one, "POST", `/registry/v2beta1/repos/${server.groupUid}`, { name: `repo-${repos++}` });
      assert.equal((await update(token)).status, 200);
      await api("DELETE", `externalGroupRoleMappings/${created.body.uid}`);
      assert.equal((await update(token)).status, 403);
      const { token: later } = JSON.parse((await session("token")).text);
      assert.equal((await update(later)).status, 403);
    });

    it("tokens of a provider are exchanged for its own users, and only if the request names it", async () => {
      await signIn({ sub: "exchanger" });
      const exchange = async (query: string, changes: Record<string, unknown> = {}) => {
        const token = await upstream.idToken({ sub: "exchanger", ...changes });
        const path = `/sts/exchange?aud=${server.config.baseUrl}${query}`;
        return await rest(server.url, token, "POST", path);
      };
      const named = `&identity_provider=${provider}`;
      const { status, body } = await exchange(named);
      assert.equal(status, 200);
      const who = await rest(server.url, body.token, "GET", "/auth/v1/ok");
      assert.equal(who.body.subject, userUid(upstream.issuer, "exchanger"));
      // Security case X1: the organization may be a client of an issuer that others trust, too.
      const elsewhere = await api("POST", "groups", { name: "elsewhere" });
      const { uid } = elsewhere.body;
      const identityUid = userUid(upstream.issuer, "exchanger");
      await api("POST", `roleBindings/${uid}`, { identityUid, roleUid: viewerRole.uid });
      assert.equal(await call(body.token, "GET", `groups/${uid}`), 403);
      assert.equal(await call((await signIn({ sub: "exchanger" })).token, "GET", `groups/${uid}`), 200);
      // X6: what goes beyond every group is not for a token that is narrowed to one.
      assert.equal((await rest(server.url, body.token, "DELETE", `/auth/v1/delete/${identityUid}`)).status, 403);
      // Identities that ask for the same issuer and subject, which anybody can make, are in nobody's way.
      const claimMatch = { issuer: upstream.issuer, subject: "exchanger" };
      for (let i = 0; i < maxCandidates; i++)
        assert.equal(
          await call(server.ownerToken, "POST", `identities/${uid}`, { name: `twin-${i}`, claimMatch }),
          200,
        );
      assert.equal((await exchange(named)).status, 200);
      assert.equal((await exchange("")).status, 403);
      // Nor for an audience of our own, which the operator of the issuer can put in: that is for the operator's provider.
      for (const unnamed of ["", `&identity=${identityUid}`])
        assert.equal((await exchange(unnamed, { aud: server.config.baseUrl })).status, 403);
      assert.equal((await exchange(named, { sub: "never-registered" })).status, 403);
      assert.equal((await exchange(named, { aud: "another-client" })).status, 403);
      assert.equal((await exchange(`&identity_provider=${server.groupUid}`)).status, 403);
      // It signs for its own issuer only, even if an identity of its organization names another issuer.
      const iss = "https://other.example";
      const others = { name: "others", claimMatch: { issuer: iss, subject: "exchanger" } };
      const other = await api("POST", `identities/${server.groupUid}`, others);
      assert.equal(other.status, 200);
      assert.equal((await exchange(`${named}&identity=${other.body.uid}`, { iss })).status, 403);
      assert.equal((await exchange(`${named}&identity=${server.ownerUid}`)).status, 403);
    });

    it("X1: a provider's claims count for identities of its own organization only", async () => {
      const other = (await api("POST", "groups", { name: "other.example" })).body.uid;
      const create = (groupUid: string) =>
        api("POST", `identities/${groupUid}`, {
          name: "shared",
          claimMatch: { issuer: upstream.issuer, subject: "user" },
        });
      const [own, foreign] = [(await create(server.groupUid)).body.uid, (await create(other)).body.uid];
      assert.ok((await signIn({ sub: "user" }, { identity: own })).token);
      assert.match((await signIn({ sub: "user" }, { identity: foreign })).error ?? "", /invalid "iss"/);
    });

    it("X11: an invite of another organization does not trust the provider's email addresses", async () => {
      const other = (await api("POST", "groups", { name: "third.example" })).body.uid;
      const invite = { roleUid: viewerRole.uid, ttl: "60s", email: "someone@example.org" };
      const [own, foreign] = await Promise.all(
        [server.groupUid, other].map(async (uid) => (await api("POST", `groupInvites/${uid}`, invite)).body.code),
      );
      const claims = { sub: "someone", email: "someone@example.org", email_verified: true };
      assert.match((await signIn(claims, { invite: foreign })).error ?? "", /for another address/);
      assert.ok((await signIn(claims, { invite: own })).token);
    });

    it("X5: nobody signs in or refreshes through a deleted provider", async () => {
      const { refresh_token: token } = await signIn({ sub: "last" }, { create_refresh_token: "true" });
      await api("DELETE", `identityProviders/${provider}`);
      const reply = await fetch(`${server.url}/sts/exchange_refresh_token`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}` },
        body: new URLSearchParams({ aud: server.config.baseUrl }),
      });
      assert.equal(reply.status, 403);
      assert.match((await signIn({ sub: "last" })).error ?? "", /no such identity provider/);
    });
  });
}
