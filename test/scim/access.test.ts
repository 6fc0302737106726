// Tests of provisioning and access: who may sign in, which roles groups give, and how fast a deactivation takes effect.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { builtInRoles, ownerRole } from "../../src/authz/built-in-roles.ts";
import { userUid } from "../../src/services/iam/users/user-uid.ts";
import { newBrowser, signInUrl } from "../harness/browser.ts";
import { databases } from "../harness/databases.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { rest } from "../harness/rest.ts";
import type { TestServer } from "../harness/server.ts";
import { viewerRole } from "../security/tree.ts";
import { client as oidcClient, startUpstream, type Upstream } from "../sign-in/openid-client.ts";
import {
  addOwner,
  call,
  createProvider,
  enableScim,
  groupSchema,
  patchSchema,
  type ScimClient,
  scimClient,
  startProvisionedServer,
  userSchema,
} from "./provisioning.ts";

const editorRole = builtInRoles.find(({ name }) => name === "editor")!;

after(stopPostgres);

for (const database of databases) {
  describe(`access of provisioned people, ${database}`, () => {
    let server: TestServer;
    let upstream: Upstream;
    let provider: string;
    let scim: ScimClient;
    let repos = 0;

    before(async () => {
      upstream = await startUpstream();
      server = await startProvisionedServer({ database });
      const { issuer } = upstream;
      provider = await createProvider(server, { issuer, clientId: oidcClient.id, clientSecret: oidcClient.secret });
      scim = await enableScim(server, provider);
    });
    after(async () => {
      await server[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
    });

    async function signIn(claims: Record<string, unknown>, idp = provider, parameters: Record<string, string> = {}) {
      upstream.behaviour.claims = claims;
      const browser = newBrowser();
      const url = new URL(signInUrl(server.url, { idp_id: idp, create_refresh_token: "true", ...parameters }));
      url.searchParams.delete("client_id");
      const begun = await browser.request(url.href);
      const there = new URL(begun.headers.get("location") ?? assert.fail(begun.text));
      const end = await browser.request(upstream.authorize(there));
      return Object.fromEntries(new URL(end.headers.get("location") ?? assert.fail(end.text)).searchParams);
    }

    async function provision(name: string, more: object = {}): Promise<string> {
      const user = { schemas: [userSchema], userName: `${name}@acme.test`, externalId: name, active: true, ...more };
      const created = await scim.send("POST", "/Users", user);
      assert.equal(created.status, 201, JSON.stringify(created.body));
      return created.body.id;
    }

    const patch = async (path: string, ...Operations: object[]) => {
      const reply = await scim.send("PATCH", path, { schemas: [patchSchema], Operations });
      assert.equal(reply.status, 200, JSON.stringify(reply.body));
      return reply.body;
    };
    const setActive = (id: string, active: unknown) =>
      patch(`/Users/${id}`, { op: "Replace", path: "active", value: active });
    const read = async (token: string | undefined, group = server.groupUid) =>
      (await rest(server.url, token, "GET", `/iam/v2beta1/groups/${group}`)).status;
    const write = async (token: string | undefined) =>
      (await rest(server.url, token, "POST", `/registry/v2beta1/repos/${server.groupUid}`, { name: `repo-${repos++}` }))
        .status;
    const refresh = async (token: string | undefined) =>
      await rest(server.url, token, "POST", `/sts/exchange_refresh_token?aud=${server.config.baseUrl}`);
    const bind = (name: string, roleUid: string, groupUid = server.groupUid) =>
      call(server, server.ownerToken, "POST", `roleBindings/${groupUid}`, {
        identityUid: userUid(upstream.issuer, name),
        roleUid,
      });

    it("lets only provisioned people sign in", async () => {
      const { error = "", status_code: status } = await signIn({ sub: "stranger" });
      assert.match(error, /has not provisioned this person/);
      assert.equal(status, "403");
      await provision("known");
      const { token } = await signIn({ sub: "known" });
      assert.equal(await read(token), 200);
    });

    it("does not take an address or a user name for the person", async () => {
      await provision("by-id", { emails: [{ value: "victim@acme.test", primary: true }] });
      assert.match(
        (await signIn({ sub: "other", email: "victim@acme.test", email_verified: true })).error ?? "",
        /not prov/,
      );
      assert.match((await signIn({ sub: "by-id@acme.test" })).error ?? "", /not provisioned/);
    });

    it("ends access, sessions and refresh tokens with a deactivation, and gives access back", async () => {
      const id = await provision("leaver");
      const { token, refresh_token: refreshToken } = await signIn({ sub: "leaver" });
      assert.equal(await read(token), 200);
      await setActive(id, "False");
      assert.equal(await read(token), 403);
      assert.equal((await refresh(refreshToken)).status, 403);
      assert.match((await signIn({ sub: "leaver" })).error ?? "", /has deactivated this person/);
      // A new binding changes nothing.
      await bind("leaver", editorRole.uid);
      assert.equal(await write(token), 403);
      await setActive(id, true);
      assert.equal(await read(token), 200);
      assert.equal((await refresh(refreshToken)).status, 403);
      assert.ok((await signIn({ sub: "leaver" })).token);
    });

    it("says of a deactivated person that the role bindings have no effect", async () => {
      const uid = userUid(upstream.issuer, "shown");
      const id = await provision("shown");
      await signIn({ sub: "shown" });
      const ask = async (path: string) => {
        const reply = await rest(server.url, server.ownerToken, "GET", `/access/v1/${path}`);
        assert.equal(reply.status, 200, JSON.stringify(reply.body));
        return reply.body;
      };
      const capability = "capability=groups.list";
      const at = `groups/${server.groupUid}`;
      const shown = async () => {
        const { roles = [] } = await ask(`whatCan?identity=${uid}`);
        const { identities: confined = [] } = await ask(`${at}:whoCan?identity=${uid}&show_confined=true`);
        return {
          holders: (await ask(`${at}:whoCan?identity=${uid}`)).totalCount,
          withCapability: (await ask(`whatCan?identity=${uid}&${capability}`)).totalCount,
          places: roles.flatMap(({ effectiveGroupUids = [] }) => effectiveGroupUids),
          capabilities: confined[0].capabilities?.length ?? 0,
          reason: (await ask(`explain?group=${server.groupUid}&identity=${uid}&${capability}`)).reason,
          marks: [roles[0], confined[0], (await ask(`${at}:people?query=${uid}`)).people[0]].map(
            ({ suspended = false }) => suspended,
          ),
        };
      };
      const before = await shown();
      assert.deepEqual(
        { ...before, capabilities: before.capabilities > 0 },
        {
          holders: "1",
          withCapability: "1",
          places: [server.groupUid],
          capabilities: true,
          reason: "ACCESS_REASON_GRANTED",
          marks: [false, false, false],
        },
      );
      await setActive(id, false);
      assert.deepEqual(await shown(), {
        holders: "0",
        withCapability: "0",
        places: [],
        capabilities: 0,
        reason: "ACCESS_REASON_IDENTITY_SUSPENDED",
        marks: [true, true, true],
      });
      // A preview promises nothing either.
      const change = {
        createRoleBinding: { parent: server.groupUid, roleBinding: { identityUid: uid, roleUid: editorRole.uid } },
      };
      const path = "/access/v1/simulate";
      const { status, body } = await rest(server.url, server.ownerToken, "POST", path, change);
      assert.equal(status, 200, JSON.stringify(body));
      assert.deepEqual(body.effects ?? [], []);
    });

    it("ends access with a deletion, until the person is provisioned again", async () => {
      const id = await provision("deleted");
      const { token } = await signIn({ sub: "deleted" });
      assert.equal((await scim.send("DELETE", `/Users/${id}`)).status, 204);
      assert.equal(await read(token), 403);
      assert.match((await signIn({ sub: "deleted" })).error ?? "", /has deactivated this person/);
      await provision("deleted");
      assert.equal(await read(token), 200);
    });

    it("keeps a person away whose externalId the client changes", async () => {
      const id = await provision("renamed");
      const { token } = await signIn({ sub: "renamed" });
      await patch(`/Users/${id}`, { op: "replace", path: "externalId", value: "someone-else" });
      assert.equal(await read(token), 403);
    });

    it("gives the roles of mapped groups at once, and takes them away at once", async () => {
      const mapping = { externalGroupId: "Editors", roleUid: editorRole.uid, scope: server.groupUid };
      const { uid } = await call(server, server.ownerToken, "POST", `externalGroupRoleMappings/${provider}`, mapping);
      const id = await provision("editor");
      const { token, refresh_token: refreshToken } = await signIn({ sub: "editor" });
      assert.equal(await write(token), 403);
      const group = { schemas: [groupSchema], displayName: "Editors", members: [{ value: id }] };
      const created = await scim.send("POST", "/Groups", group);
      assert.equal(created.status, 201);
      assert.equal(await write(token), 200);
      assert.equal((await refresh(refreshToken)).status, 200);
      const path = `/Groups/${created.body.id}`;
      await patch(path, { op: "Remove", path: `members[value eq "${id}"]` });
      assert.equal(await write(token), 403);
      await patch(path, { op: "Add", path: "members", value: [{ value: id }] });
      assert.equal(await write(token), 200);
      await setActive(id, false);
      assert.equal(await write(token), 403);
      await setActive(id, true);
      assert.equal(await write(token), 200);
      await call(server, server.ownerToken, "DELETE", `externalGroupRoleMappings/${uid}`);
      assert.equal(await write(token), 403);
    });

    it("a mapping gives no role to a person who has not signed in by the provider", async () => {
      const mapping = { externalGroupId: "Waiting", roleUid: editorRole.uid, scope: server.groupUid };
      await call(server, server.ownerToken, "POST", `externalGroupRoleMappings/${provider}`, mapping);
      const id = await provision("waiting");
      await scim.send("POST", "/Groups", { schemas: [groupSchema], displayName: "Waiting", members: [{ value: id }] });
      const token = await server.tokenOf(userUid(upstream.issuer, "waiting"));
      assert.notEqual(await write(token), 200);
      assert.equal(await write((await signIn({ sub: "waiting" })).token), 200);
    });

    it("takes away nothing in another organization", async () => {
      const id = await provision("guest");
      const { token = "" } = await signIn({ sub: "guest" });
      const other = await call(server, server.ownerToken, "POST", "groups", { name: "elsewhere.example" });
      await bind("guest", viewerRole.uid, other.uid);
      assert.equal(await read(token, other.uid), 200);
      await setActive(id, false);
      assert.equal(await read(token), 403);
      assert.equal(await read(token, other.uid), 200);
    });

    it("does not leave an organization without an owner", async () => {
      const { issuer } = upstream;
      const oidc = { issuer, clientId: oidcClient.id, clientSecret: oidcClient.secret };
      const { uid: group } = await call(server, server.ownerToken, "POST", "groups", { name: "owned.example" });
      const own = await createProvider(server, oidc, group);
      await addOwner(server, group);
      const client = await enableScim(server, own);
      const user = { schemas: [userSchema], userName: "boss", externalId: "boss" };
      const path = `/Users/${(await client.send("POST", "/Users", user)).body.id}`;
      const { token = "" } = await signIn({ sub: "boss" }, own);
      await bind("boss", ownerRole.uid, group);
      const deactivate = () => client.send("PUT", path, { ...user, active: false });
      assert.equal((await deactivate()).status, 200);
      assert.equal(await read(token, group), 403);
      assert.equal((await client.send("PUT", path, { ...user, active: true })).status, 200);

      const { roleBindings } = await call(server, token, "GET", `roleBindings?uidp.childrenOf=${group}`);
      const boss = userUid(upstream.issuer, "boss");
      const others = roleBindings.filter((one: { identity: { uid: string } }) => one.identity.uid !== boss);
      assert.equal(others.length, 2);
      for (const { uid } of others) await call(server, token, "DELETE", `roleBindings/${uid}`);
      // Nobody vouches for the first token any more (docs/decisions/0035).
      assert.equal((await deactivate()).status, 403);
      const { etag } = (await call(server, token, "GET", `identityProviders/${own}`)).scim;
      const issued = await call(server, token, "POST", `identityProviders/${own}:regenerateScimToken`, { etag });
      const current = scimClient(server, own, issued.token);
      const replies = [await current.send("PUT", path, { ...user, active: false }), await current.send("DELETE", path)];
      for (const reply of replies) {
        assert.equal(reply.status, 409);
        assert.match(reply.body.detail, /last owner/);
      }
      assert.equal(await read(token, group), 200);
    });

    it("does not give the last owner binding to a deactivated person", async () => {
      const { issuer } = upstream;
      const oidc = { issuer, clientId: oidcClient.id, clientSecret: oidcClient.secret };
      const { uid: group } = await call(server, server.ownerToken, "POST", "groups", { name: "moved.example" });
      const own = await createProvider(server, oidc, group);
      await addOwner(server, group);
      const client = await enableScim(server, own);
      const user = { schemas: [userSchema], userName: "idle", externalId: "idle" };
      const path = `/Users/${(await client.send("POST", "/Users", user)).body.id}`;
      await signIn({ sub: "idle" }, own);
      assert.equal((await client.send("PUT", path, { ...user, active: false })).status, 200);
      const { roleBindings } = await call(server, server.ownerToken, "GET", `roleBindings?uidp.childrenOf=${group}`);
      const owners = roleBindings.filter((one: { role: { uid: string } }) => one.role.uid === ownerRole.uid);
      const isOwn = ({ identity }: { identity: { uid: string } }) => identity.uid === server.ownerUid;
      const change = { identityUid: userUid(issuer, "idle"), roleUid: ownerRole.uid };
      const move = async ({ uid }: { uid: string }) =>
        await rest(server.url, server.ownerToken, "PATCH", `/iam/v2beta1/roleBindings/${uid}`, change);
      const [kept, other] = [owners.find(isOwn), owners.find((one: never) => !isOwn(one))];
      assert.equal((await move(other)).status, 200);
      const refused = await move(kept);
      assert.equal(refused.status, 400, JSON.stringify(refused.body));
      assert.match(JSON.stringify(refused.body), /LAST_OWNER/);
    });

    it("does not give access back when the provider is deleted", async () => {
      const { issuer } = upstream;
      const own = await createProvider(server, { issuer, clientId: oidcClient.id, clientSecret: oidcClient.secret });
      const client = await enableScim(server, own);
      const user = { schemas: [userSchema], userName: "gone", externalId: "gone" };
      const { body } = await client.send("POST", "/Users", user);
      const { token } = await signIn({ sub: "gone" }, own);
      assert.equal(await read(token), 200);
      await client.send("PUT", `/Users/${body.id}`, { ...user, active: false });
      await call(server, server.ownerToken, "DELETE", `identityProviders/${own}`);
      assert.equal(await read(token), 403);
    });

    it("matches the oid claim if the provider says so", async () => {
      const oidc = {
        issuer: upstream.issuer,
        clientId: oidcClient.id,
        clientSecret: oidcClient.secret,
        correlationRule: "CORRELATION_RULE_OID_EQUALS_EXTERNAL_ID",
      };
      const own = await createProvider(server, oidc);
      const client = await enableScim(server, own);
      const user = { schemas: [userSchema], userName: "by-oid", externalId: "object-1" };
      const { body } = await client.send("POST", "/Users", user);
      assert.match((await signIn({ sub: "object-1" }, own)).error ?? "", /not provisioned/);
      const { token } = await signIn({ sub: "pairwise", oid: "object-1" }, own);
      assert.equal(await read(token), 200);
      await client.send("DELETE", `/Users/${body.id}`);
      assert.equal(await read(token), 403);
      await client.send("POST", "/Users", user);
      assert.equal(await read((await signIn({ sub: "pairwise", oid: "object-1" }, own)).token), 200);
    });
  });
}
