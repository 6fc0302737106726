// A deactivated person has no access to the organization under any identity that their tokens can become.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { ownerRole } from "../../src/authz/built-in-roles.ts";
import { userUid } from "../../src/services/iam/users/user-uid.ts";
import { newBrowser, signInUrl } from "../harness/browser.ts";
import { databases } from "../harness/databases.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { rest } from "../harness/rest.ts";
import type { TestServer } from "../harness/server.ts";
import { getToken, basic as signedIn } from "../registry/sign-in.ts";
import { addCaller, addGroup, viewerRole } from "../security/tree.ts";
import { loginSettings, client as oidcClient, startUpstream, type Upstream } from "../sign-in/openid-client.ts";
import {
  call,
  createProvider,
  enableScim,
  type ScimClient,
  startProvisionedServer,
  userSchema,
} from "./provisioning.ts";

after(stopPostgres);

for (const database of databases) {
  describe(`identities that name a deactivated person, ${database}`, () => {
    const audience = "https://tools.example.org";
    let server: TestServer;
    let upstream: Upstream;
    let provider: string;
    let scim: ScimClient;
    let userPath: string;
    /** The identities by how they name the person. */
    const identities: Record<string, string> = {};

    before(async () => {
      upstream = await startUpstream();
      server = await startProvisionedServer({ database, settings: loginSettings(upstream) });
      const { issuer } = upstream;
      provider = await createProvider(server, { issuer, clientId: oidcClient.id, clientSecret: oidcClient.secret });
      scim = await enableScim(server, provider);
      const user = { schemas: [userSchema], userName: "leaver", externalId: "leaver", active: true };
      userPath = `/Users/${(await scim.send("POST", "/Users", user)).body.id}`;
      const exact = { issuer, subject: "leaver", audience };
      identities.exact = await addIdentity({ claimMatch: exact });
      identities.pattern = await addIdentity({ claimMatch: { issuer, subjectPattern: "leav.+", audience } });
      identities.signIn = await addIdentity({ claimMatch: { issuer, subject: "leaver", audience: oidcClient.id } });
    });
    after(async () => {
      await server[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
    });

    async function addIdentity(relationship: object, group = server.groupUid, boundAt = group): Promise<string> {
      const name = `ci-${Math.random().toString(36).slice(2)}`;
      const { uid } = await call(server, server.ownerToken, "POST", `identities/${group}`, { name, ...relationship });
      const binding = { identityUid: uid, roleUid: ownerRole.uid };
      await call(server, server.ownerToken, "POST", `roleBindings/${boundAt}`, binding);
      return uid;
    }
    const setActive = async (active: boolean) => {
      const user = { schemas: [userSchema], userName: "leaver", externalId: "leaver", active };
      const reply = await scim.send("PUT", userPath, user);
      assert.equal(reply.status, 200, JSON.stringify(reply.body));
    };
    const upstreamToken = (sub = "leaver") =>
      upstream.idToken({ sub, aud: audience, exp: Math.floor(Date.now() / 1000) + 600 });
    const exchange = async (identity: string, token?: string) => {
      const path = `/sts/exchange?aud=${server.config.baseUrl}&identity=${identity}`;
      return await rest(server.url, token ?? (await upstreamToken()), "POST", path);
    };
    const read = async (token: string, group = server.groupUid) =>
      (await rest(server.url, token, "GET", `/iam/v2beta1/groups/${group}`)).status;
    const pull = async (user: string, password: string) =>
      (await getToken(server.url, signedIn(user, password), [])).status;

    async function signIn(parameters: Record<string, string>) {
      upstream.behaviour.claims = { sub: "leaver" };
      const browser = newBrowser();
      const begun = await browser.request(signInUrl(server.url, { create_refresh_token: "true", ...parameters }));
      const there = new URL(begun.headers.get("location") ?? assert.fail(begun.text));
      const end = await browser.request(upstream.authorize(there));
      return Object.fromEntries(new URL(end.headers.get("location") ?? assert.fail(end.text)).searchParams);
    }
    const refresh = async (token: string) =>
      await rest(server.url, token, "POST", `/sts/exchange_refresh_token?aud=${server.config.baseUrl}`);

    for (const kind of ["exact", "pattern"])
      it(`after a deactivation, identities that name the person cannot be assumed by an exchange, and their tokens are invalid: ${kind} claims`, async () => {
        const before = await exchange(identities[kind]!);
        assert.equal(before.status, 200, JSON.stringify(before.body));
        const { token } = before.body;
        assert.equal(await read(token), 200);
        assert.equal(await pull(identities[kind]!, await upstreamToken()), 200);
        await setActive(false);
        const denied = await exchange(identities[kind]!);
        assert.equal(denied.status, 403);
        assert.match(JSON.stringify(denied.body), /has deactivated this person/);
        assert.equal(await read(token), 401);
        assert.equal((await exchange(identities[kind]!, token)).status, 403);
        assert.equal(await pull(identities[kind]!, await upstreamToken()), 401);
        await setActive(true);
        assert.equal(await read(token), 200);
        assert.equal((await exchange(identities[kind]!)).status, 200);
      });

    it("identities that name a deactivated person are still open to other people whom their patterns match", async () => {
      await setActive(false);
      const { status, body } = await exchange(identities.pattern!, await upstreamToken("leave-me"));
      assert.equal(status, 200, JSON.stringify(body));
      assert.equal(await read(body.token), 200);
      await setActive(true);
    });

    it("identities that name a deactivated person cannot be assumed by a sign-in with the operator's login provider, nor by its refresh token", async () => {
      const { refresh_token: refreshToken = "", error } = await signIn({ identity: identities.signIn! });
      assert.equal(error, undefined);
      await setActive(false);
      assert.match((await signIn({ identity: identities.signIn! })).error ?? "", /has deactivated this person/);
      assert.equal((await refresh(refreshToken)).status, 403);
      await setActive(true);
      assert.equal((await refresh(refreshToken)).status, 200);
    });

    it("identities that name a deactivated person are denied under the other spelling of the issuer, with a final slash", async () => {
      const { issuer } = upstream;
      const slash = `${issuer}/`;
      upstream.answers["//.well-known/openid-configuration"] = upstream.answers["/.well-known/openid-configuration"]!;
      const other = await createProvider(server, { issuer: slash, clientId: "other", clientSecret: "canary" });
      const client = await enableScim(server, other);
      const user = { schemas: [userSchema], userName: "slash", externalId: "slash", active: false };
      assert.equal((await client.send("POST", "/Users", user)).status, 201);
      const uid = await addIdentity({ claimMatch: { issuer, subject: "slash", audience } });
      assert.equal((await exchange(uid, await upstreamToken("slash"))).status, 403);
    });

    it("identities of another organization keep their access there, and lose it in the one that deactivated the person", async () => {
      const { issuer } = upstream;
      const other = await call(server, server.ownerToken, "POST", "groups", { name: `elsewhere-${database}.example` });
      const uid = await addIdentity({ claimMatch: { issuer, subject: "leaver", audience } }, other.uid);
      const binding = { identityUid: uid, roleUid: viewerRole.uid };
      await call(server, server.ownerToken, "POST", `roleBindings/${server.groupUid}`, binding);
      const { body } = await exchange(uid);
      assert.deepEqual([await read(body.token), await read(body.token, other.uid)], [200, 200]);
      await setActive(false);
      assert.deepEqual([await read(body.token), await read(body.token, other.uid)], [403, 200]);
      const again = await exchange(uid);
      assert.deepEqual(
        [again.status, await read(again.body.token), await read(again.body.token, other.uid)],
        [200, 403, 200],
      );
      await setActive(true);
      assert.deepEqual([await read(body.token), await read(body.token, other.uid)], [200, 200]);
    });

    it("the list of findings has identities that name a deactivated person, with what they made, for callers who may list role bindings", async () => {
      const { body: made } = await exchange(identities.exact!);
      const invite = { roleUid: viewerRole.uid, ttl: "86400s", email: "friend@example.org" };
      const { uid } = await call(server, made.token, "POST", `groupInvites/${server.groupUid}`, invite);
      const query = new URLSearchParams({ parent: server.groupUid, kinds: "FINDING_KIND_DEACTIVATED_PERSON" });
      const find = async (token: string) => {
        const path = `/gatehouse/organizations/v1/findings?${query}`;
        const { body } = await rest(server.url, token, "GET", path);
        return body.findings as { resourceUid: string; identity: { uid: string }; delegation?: { makerUid: string } }[];
      };
      const known = (await find(server.ownerToken)).length;
      await setActive(false);
      const found = await find(server.ownerToken);
      assert.deepEqual(
        new Set(
          found
            .map(({ resourceUid }) => resourceUid)
            .filter((one) => [...Object.values(identities), uid].includes(one)),
        ),
        new Set([identities.exact, identities.signIn, uid]),
      );
      const one = found.find(({ resourceUid }) => resourceUid === identities.exact)!;
      assert.equal(one.identity.uid, userUid(upstream.issuer, "leaver"));
      assert.equal(found.find(({ resourceUid }) => resourceUid === uid)?.delegation?.makerUid, identities.exact);
      const stranger = await addCaller(server, await addGroup(server, null, `other-${database}`), ownerRole.uid);
      assert.deepEqual(await find(stranger.token), []);
      await setActive(true);
      assert.equal((await find(server.ownerToken)).length, known);
    });

    it("ExplainExchange explains the denial of identities that name a deactivated person to a caller who may read them and has a token of the person", async () => {
      const ask = async (token: string) => {
        const path = `/access/v1/identities/${identities.exact}:explainExchange`;
        return (await rest(server.url, server.ownerToken, "POST", path, { token })).body;
      };
      await setActive(false);
      const told = await ask(await upstreamToken());
      assert.equal(told.allowed ?? false, false);
      assert.match(JSON.stringify(told.checks.at(-1)), /"person".*has deactivated this person/);
      // An expired token does not show it.
      const late = await ask(await upstream.idToken({ sub: "leaver", aud: audience, exp: 1_000_000_000 }));
      assert.doesNotMatch(JSON.stringify(late), /deactivated/);
      await setActive(true);
    });

    it("identities that name a deactivated person lose their roles when the provider whose client deactivated the person is deleted", async () => {
      const { issuer } = upstream;
      const own = await createProvider(server, { issuer, clientId: oidcClient.id, clientSecret: oidcClient.secret });
      const client = await enableScim(server, own);
      const user = { schemas: [userSchema], userName: "gone", externalId: "gone", active: false };
      assert.equal((await client.send("POST", "/Users", user)).status, 201);
      const uid = await addIdentity({ claimMatch: { issuer, subject: "gone", audience } });
      await call(server, server.ownerToken, "DELETE", `identityProviders/${own}`);
      const { status, body } = await exchange(uid, await upstreamToken("gone"));
      assert.deepEqual([status, await read(body.token)], [200, 403]);
    });

    it("a person who never signed in cannot assume identities that name them once the client has deleted them", async () => {
      const { issuer } = upstream;
      const user = { schemas: [userSchema], userName: "never", externalId: "never", active: true };
      const { body } = await scim.send("POST", "/Users", user);
      const uid = await addIdentity({ claimMatch: { issuer, subject: "never", audience } });
      assert.equal((await exchange(uid, await upstreamToken("never"))).status, 200);
      assert.equal((await scim.send("DELETE", `/Users/${body.id}`)).status, 204);
      assert.equal((await exchange(uid, await upstreamToken("never"))).status, 403);
    });
  });
}
