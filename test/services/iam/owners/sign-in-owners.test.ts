// An organization whose owner signs in by its own identity provider keeps that provider, or gets another owner first.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { ownerRole } from "../../../../src/authz/built-in-roles.ts";
import { userUid } from "../../../../src/services/iam/users/user-uid.ts";
import { newBrowser, signInUrl } from "../../../harness/browser.ts";
import { databases } from "../../../harness/databases.ts";
import { stopPostgres } from "../../../harness/postgres.ts";
import { rest } from "../../../harness/rest.ts";
import { startTestServer, type TestServer } from "../../../harness/server.ts";
import { createProvider, enableScim, userSchema } from "../../../scim/provisioning.ts";
import { addCaller, addGroup } from "../../../security/tree.ts";
import { client, loginSettings, startUpstream, type Upstream } from "../../../sign-in/openid-client.ts";

after(stopPostgres);

for (const database of databases) {
  describe(`an owner who signs in by an identity provider, ${database}`, () => {
    let server: TestServer;
    let upstream: Upstream;
    let number = 0;

    before(async () => {
      upstream = await startUpstream();
      server = await startTestServer({ database });
    });
    after(async () => {
      await server[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
    });

    const send = (token: string, method: string, path: string, body?: object) =>
      rest(server.url, token, method, `/iam/v2beta1/${path}`, body);
    async function call(token: string, method: string, path: string, body?: object) {
      const reply = await send(token, method, path, body);
      assert.equal(reply.status, 200, `${method} ${path}: ${JSON.stringify(reply.body)}`);
      return reply.body;
    }
    async function refuses(token: string, method: string, path: string, body?: object): Promise<string> {
      const reply = await send(token, method, path, body);
      assert.equal(reply.status, 400, `${method} ${path}: ${JSON.stringify(reply.body)}`);
      assert.match(JSON.stringify(reply.body), /LAST_OWNER/);
      return JSON.stringify(reply.body);
    }

    async function signIn(sub: string, provider: string): Promise<string> {
      upstream.behaviour.claims = { sub };
      const browser = newBrowser();
      const url = new URL(signInUrl(server.url, { idp_id: provider }));
      url.searchParams.delete("client_id");
      const begun = await browser.request(url.href);
      const there = new URL(begun.headers.get("location") ?? assert.fail(begun.text));
      const end = await browser.request(upstream.authorize(there));
      const { searchParams } = new URL(end.headers.get("location") ?? assert.fail(end.text));
      return searchParams.get("token") ?? assert.fail(String(searchParams));
    }

    /** Returns an organization with a provider, and a person who signs in by it and is its only owner. */
    async function ownedByPerson() {
      const sub = `person-${number++}`;
      const group = await addGroup(server, null, `${sub}-${database}`);
      const setUp = await addCaller(server, group, ownerRole.uid);
      const oidc = { issuer: upstream.issuer, clientId: client.id, clientSecret: client.secret };
      const provider = await createProvider({ ...server, ownerToken: setUp.token }, oidc, group);
      const token = await signIn(sub, provider);
      const identityUid = userUid(upstream.issuer, sub);
      await call(setUp.token, "POST", `roleBindings/${group}`, { identityUid, roleUid: ownerRole.uid });
      await call(token, "DELETE", `roleBindings/${setUp.binding}`);
      return { group, provider, token, sub, oidc, setUp, identityUid };
    }
    const otherwise = (oidc: object, change: object) => ({ oidc: { ...oidc, ...change } });

    it("an owner who signs in by an identity provider cannot delete the provider, or give it another issuer or client, while nobody else owns the organization", async () => {
      const { group, provider, token, sub, oidc } = await ownedByPerson();
      const path = `identityProviders/${provider}`;
      assert.match(await refuses(token, "DELETE", path), new RegExp(group));
      await refuses(token, "PATCH", path, otherwise(oidc, { issuer: "https://other.example.org" }));
      await refuses(token, "PATCH", path, otherwise(oidc, { clientId: "other" }));
      const v1 = await rest(server.url, token, "DELETE", `/iam/v1/identityProviders/${provider}`);
      assert.match(JSON.stringify(v1.body), /LAST_OWNER/);
      // Other changes of the provider do not change who its users are.
      await call(token, "PATCH", path, { name: "renamed", ...otherwise(oidc, { clientSecret: client.secret }) });
      assert.equal((await send(await signIn(sub, provider), "GET", `groups/${group}`)).status, 200);
    });

    it("an owner does not count once their identity provider is gone, until another one names the issuer", async () => {
      const { group, provider, token, oidc } = await ownedByPerson();
      const other = await addCaller(server, group, ownerRole.uid);
      await call(token, "DELETE", `identityProviders/${provider}`);
      await refuses(other.token, "DELETE", `roleBindings/${other.binding}`);
      await refuses(other.token, "DELETE", `identities/${other.uid}`);
      const later = await createProvider({ ...server, ownerToken: other.token }, oidc, group);
      await call(other.token, "DELETE", `roleBindings/${other.binding}`);
      await refuses(token, "DELETE", `identityProviders/${later}`);
    });

    it("deletes one of two providers of the issuer, and not the second", async () => {
      const { group, provider, token, oidc } = await ownedByPerson();
      const second = await createProvider({ ...server, ownerToken: token }, oidc, group);
      await call(token, "DELETE", `identityProviders/${provider}`);
      await refuses(token, "DELETE", `identityProviders/${second}`);
    });

    it("the last owner cannot limit sign-ins to provisioned people without being one of them", async () => {
      const { group, provider, token, sub } = await ownedByPerson();
      await call(token, "PATCH", `identityProviders/${provider}`, { description: "mine" });
      // Provisioning requires two owners. The second one is a person who has signed in, and is not provisioned either.
      const colleague = `colleague-${sub}`;
      await signIn(colleague, provider);
      const binding = { identityUid: userUid(upstream.issuer, colleague), roleUid: ownerRole.uid };
      await call(token, "POST", `roleBindings/${group}`, binding);
      const { etag } = await call(token, "POST", `identityProviders/${provider}:generateScimToken`, {});
      await refuses(token, "POST", `identityProviders/${provider}:setScimEnabled`, { enabled: true, etag });
      const machine = await addCaller(server, group, ownerRole.uid);
      await call(token, "POST", `identityProviders/${provider}:setScimEnabled`, { enabled: true, etag });
      // The two people do not count as owners, because they are not provisioned.
      await refuses(machine.token, "DELETE", `roleBindings/${machine.binding}`);
    });

    it("counts again once the SCIM client has provisioned the person, and not after it has deleted the person", async () => {
      const { group, provider, token, sub } = await ownedByPerson();
      const machine = await addCaller(server, group, ownerRole.uid);
      await call(machine.token, "PATCH", `identityProviders/${provider}`, { description: "of the machine" });
      const scim = await enableScim({ ...server, ownerToken: machine.token }, provider);
      const user = { schemas: [userSchema], userName: sub, externalId: sub, active: true };
      const { id } = (await scim.send("POST", "/Users", user)).body;
      assert.equal((await scim.send("DELETE", `/Users/${id}`)).status, 204);
      await refuses(machine.token, "DELETE", `roleBindings/${machine.binding}`);
      assert.equal((await scim.send("POST", "/Users", user)).status, 201);
      await call(machine.token, "DELETE", `roleBindings/${machine.binding}`);
      await refuses(token, "DELETE", `identityProviders/${provider}`);
    });

    it("keeps the provider of another organization by which the person signs in, and that organization learns no name", async () => {
      const { group: home, provider, token, sub } = await ownedByPerson();
      const admin = await addCaller(server, home, ownerRole.uid);
      const { uid: founded } = await call(token, "POST", "groups", { name: `founded-${sub}.example` });
      const text = await refuses(admin.token, "DELETE", `identityProviders/${provider}`);
      assert.ok(!text.includes(founded), text);
      await addCaller(server, founded, ownerRole.uid);
      await call(admin.token, "DELETE", `identityProviders/${provider}`);
    });

    it("an owner elsewhere can be deactivated by their home organization, and no longer counts elsewhere", async () => {
      const { group: home, provider, token, sub } = await ownedByPerson();
      const machine = await addCaller(server, home, ownerRole.uid);
      const { uid: founded } = await call(token, "POST", "groups", { name: `left-${sub}.example` });
      const other = await addCaller(server, founded, ownerRole.uid);
      const scim = await enableScim({ ...server, ownerToken: machine.token }, provider);
      const user = { schemas: [userSchema], userName: sub, externalId: sub, active: true };
      const { id } = (await scim.send("POST", "/Users", user)).body;
      assert.equal((await scim.send("PUT", `/Users/${id}`, { ...user, active: false })).status, 200);
      await refuses(other.token, "DELETE", `roleBindings/${other.binding}`);
      assert.equal((await scim.send("PUT", `/Users/${id}`, user)).status, 200);
      await call(other.token, "DELETE", `roleBindings/${other.binding}`);
    });

    it("keeps the provider and its own relationship when an operator imports others", async () => {
      const { group, provider, token } = await ownedByPerson();
      const importing = async (resource: object) => {
        const path = `/gatehouse/organizations/v1/organizations/${group}:importResources`;
        const { body } = await rest(server.url, server.ownerToken, "POST", path, { resources: [resource] });
        return JSON.stringify(body);
      };
      const oidc = { issuer: "https://other.example.org", clientId: "other", pkceEnabled: true };
      const { name, defaultRole } = await call(token, "GET", `identityProviders/${provider}`);
      const moved = await importing({ identityProvider: { uid: provider, name, defaultRole, oidc } });
      assert.match(moved, /sign in by this identity provider only|last owner/);
      const machine = await addCaller(server, group, ownerRole.uid);
      await call(token, "DELETE", `identityProviders/${provider}`);
      const changed = { uid: machine.uid, name: "machine", servicePrincipal: "SERVICE_PRINCIPAL_COSIGNED" };
      assert.match(await importing({ identity: changed }), /must keep an owner/);
    });

    it("deletes the whole organization, at once or piece by piece", async () => {
      const destroy = "/gatehouse.apply.v1.ApplyService/DestroySubtree";
      for (const isAtOnce of [true, false]) {
        const { group, provider, token, setUp } = await ownedByPerson();
        await call(token, "POST", `groups/${group}`, { name: "folder" });
        if (isAtOnce) {
          const destroyed = await rest(server.url, token, "POST", destroy, { groupUid: group });
          assert.equal(destroyed.status, 200, JSON.stringify(destroyed.body));
        } else {
          await refuses(token, "DELETE", `identityProviders/${provider}`);
          await call(token, "DELETE", `identities/${setUp.uid}`);
          const folders = (await call(token, "GET", `groups?uidp.childrenOf=${group}`)).groups;
          for (const { uid } of folders) await call(token, "DELETE", `groups/${uid}`);
          const { roleBindings } = await call(token, "GET", `roleBindings?group=${group}`);
          for (const { uid, role } of roleBindings)
            if (role.uid !== ownerRole.uid) await call(token, "DELETE", `roleBindings/${uid}`);
          await call(token, "DELETE", `identityProviders/${provider}`);
          await call(token, "DELETE", `groups/${group}`);
        }
      }
    });
  });

  describe(`an owner who signs in by the operator's login provider, ${database}`, () => {
    it("an owner who signs in by the operator's login provider may delete an identity provider of the same issuer", async () => {
      await using upstream = await startUpstream();
      await using server = await startTestServer({ database, settings: loginSettings(upstream) });
      const group = await addGroup(server, null, "both");
      const setUp = await addCaller(server, group, ownerRole.uid);
      const oidc = { issuer: upstream.issuer, clientId: client.id, clientSecret: client.secret };
      const provider = await createProvider({ ...server, ownerToken: setUp.token }, oidc, group);
      const id = await upstream.idToken({ sub: "operator" });
      await rest(server.url, id, "POST", "/auth/v1/register", {});
      const identityUid = userUid(upstream.issuer, "operator");
      const path = `/iam/v2beta1/roleBindings/${group}`;
      await rest(server.url, setUp.token, "POST", path, { identityUid, roleUid: ownerRole.uid });
      const token = await server.tokenOf(identityUid);
      for (const [one, method, target] of [
        [token, "GET", `groups/${group}`],
        [token, "DELETE", `roleBindings/${setUp.binding}`],
        [token, "DELETE", `identityProviders/${provider}`],
      ] as const) {
        const { status, body } = await rest(server.url, one, method, `/iam/v2beta1/${target}`);
        assert.equal(status, 200, JSON.stringify(body));
      }
    });
  });
}
