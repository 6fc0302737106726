// Tests of the reach of a SCIM token, and of its verification.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { builtInRoles } from "../../src/authz/built-in-roles.ts";
import { limits } from "../../src/server/limits.ts";
import { userUid } from "../../src/services/iam/users/user-uid.ts";
import { databases } from "../harness/databases.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { rest } from "../harness/rest.ts";
import type { TestServer } from "../harness/server.ts";
import {
  addOwner,
  call,
  createProvider,
  enableScim,
  groupSchema,
  type ScimClient,
  scimClient,
  startProvisionedServer,
  userSchema,
} from "../scim/provisioning.ts";
import { stoppedClock } from "./ground.ts";
import { viewerRole } from "./tree.ts";

const editorRole = builtInRoles.find(({ name }) => name === "editor")!;

after(stopPostgres);

for (const database of databases) {
  describe(`a SCIM token, ${database}`, () => {
    const clock = stoppedClock();
    let server: TestServer;
    let providers: readonly string[];
    let clients: readonly ScimClient[];
    before(async () => {
      server = await startProvisionedServer({ database, clock: clock.read });
      const other = await call(server, server.ownerToken, "POST", "groups", { name: "other.example" });
      await addOwner(server, other.uid);
      providers = [await createProvider(server), await createProvider(server, {}, other.uid)];
      clients = [await enableScim(server, providers[0]!), await enableScim(server, providers[1]!)];
    });
    after(() => server[Symbol.asyncDispose]());

    const status = async (client: ScimClient, path = "/Users") => (await client.send("GET", path)).status;
    const withToken = (token: string) => scimClient(server, providers[0]!, token);

    it("a SCIM token is valid for its provider only, and says nothing about others", async () => {
      const [own, foreign] = clients;
      assert.equal(await status(own!), 200);
      const refusals = [
        await scimClient(server, providers[1]!, own!.token).send("GET", "/Users"),
        await scimClient(server, `${server.groupUid}/0123456789abcdef`, own!.token).send("GET", "/Users"),
        await scimClient(server, "nothing/at-all", own!.token).send("GET", "/Users"),
        await withToken(own!.token.replace(/.$/, (last) => (last === "0" ? "1" : "0"))).send("GET", "/Users"),
        await withToken(server.ownerToken).send("GET", "/Users"),
        await withToken(foreign!.token).send("GET", "/Users"),
      ];
      for (const { status: code, body, headers } of refusals) {
        assert.equal(code, 401);
        assert.match(headers.get("www-authenticate") ?? "", /^Bearer( error="invalid_token")?$/);
        assert.deepEqual(body, refusals[0]!.body);
      }
      assert.equal((await rest(server.url, own!.token, "GET", "/iam/v2beta1/groups")).status, 401);
    });

    it("reaches no user or group of another provider", async () => {
      const [own, foreign] = clients;
      const user = { schemas: [userSchema], userName: "same", externalId: "same", emails: [{ value: "a@b.example" }] };
      const { body } = await foreign!.send("POST", "/Users", user);
      assert.equal((await own!.send("POST", "/Users", user)).status, 201);
      for (const method of ["GET", "DELETE"])
        assert.equal((await own!.send(method, `/Users/${body.id}`)).status, 404, method);
      assert.equal((await own!.send("PUT", `/Users/${body.id}`, user)).status, 404);
      const group = { schemas: [groupSchema], displayName: "mixed", members: [{ value: body.id }] };
      assert.equal((await own!.send("POST", "/Groups", group)).body.members, undefined);
      const ids = (await own!.send("GET", "/Users")).body.Resources.map(({ id }: { id: string }) => id);
      assert.ok(!ids.includes(body.id));
    });

    it("a SCIM token is not accepted once it is disabled, replaced, expired or revoked", async () => {
      const provider = await createProvider(server);
      const path = `identityProviders/${provider}`;
      const client = await enableScim(server, provider);
      const etag = async () => (await call(server, server.ownerToken, "GET", path)).scim.etag;
      const act = async (name: string, body: object) =>
        await call(server, server.ownerToken, "POST", `${path}:${name}`, body);
      await act("setScimEnabled", { enabled: false, etag: await etag() });
      assert.equal(await status(client), 403);
      await act("setScimEnabled", { enabled: true, etag: await etag() });
      const rotated = await act("regenerateScimToken", { etag: await etag(), overlap: "60s" });
      const next = scimClient(server, provider, rotated.token);
      assert.deepEqual([await status(client), await status(next)], [200, 200]);
      clock.advance(61_000);
      assert.deepEqual([await status(client), await status(next)], [401, 200]);
      await act("revokeScimToken", {});
      assert.equal(await status(next), 401);
    });

    it("the SCIM endpoints limit how many wrong tokens an address may send", async () => {
      clock.advance(1_000);
      const wrong = withToken(`cgscim_${"0".repeat(64)}`);
      for (let i = 0; i < limits.badTokensPerSecond; i++) assert.equal(await status(wrong), 401);
      const spent = await wrong.send("GET", "/Users");
      assert.deepEqual([spent.status, spent.headers.get("retry-after")], [429, "1"]);
      clock.advance(1_000);
      assert.equal(await status(clients[0]!), 200);
    });

    it("a SCIM token is in force only while its maker holds the default role and all mapped roles", async () => {
      const { uid: role } = await call(server, server.ownerToken, "POST", `roles/${server.groupUid}`, {
        name: "provisioner",
        capabilities: ["CAP_IAM_IDENTITY_PROVIDERS_LIST", "CAP_IAM_SCIM_MANAGE"],
      });
      const { uid: maker } = await call(server, server.ownerToken, "POST", `identities/${server.groupUid}`, {
        name: "maker",
        claimMatch: { issuer: "https://issuer.example.org", subject: "maker", audience: "x" },
      });
      for (const roleUid of [role, viewerRole.uid])
        await call(server, server.ownerToken, "POST", `roleBindings/${server.groupUid}`, {
          identityUid: maker,
          roleUid,
        });
      const provider = await createProvider(server);
      const token = await server.tokenOf(maker);
      const path = `identityProviders/${provider}`;
      const issued = await call(server, token, "POST", `${path}:generateScimToken`, {});
      await call(server, server.ownerToken, "POST", `${path}:setScimEnabled`, { enabled: true, etag: issued.etag });
      const client = scimClient(server, provider, issued.token);
      assert.equal(await status(client), 200);
      const mapping = { externalGroupId: "Admins", roleUid: editorRole.uid, scope: server.groupUid };
      await call(server, server.ownerToken, "POST", `externalGroupRoleMappings/${provider}`, mapping);
      const refused = await client.send("GET", "/Users");
      assert.equal(refused.status, 403);
      assert.match(refused.body.detail, /gatehouse iam delegations confirm/);
      const { etag } = (await call(server, server.ownerToken, "GET", path)).scim;
      const again = await rest(server.url, token, "POST", `/iam/v2beta1/${path}:regenerateScimToken`, { etag });
      assert.equal(again.status, 403);
    });

    it("a SCIM token cannot take an identity of another organization's issuer, nor lock its owner out", async () => {
      // Any organization can name the issuer by which an owner of another one signs in, and provision the owner's subject.
      const issuer = "https://issuer.example.org";
      const victim = userUid(issuer, "victim");
      const attacker = await call(server, server.ownerToken, "POST", "groups", { name: "attacker.example" });
      await addOwner(server, attacker.uid);
      for (const group of [server.groupUid, attacker.uid]) {
        const binding = { identityUid: victim, roleUid: viewerRole.uid };
        await call(server, server.ownerToken, "POST", `roleBindings/${group}`, binding);
      }
      const token = await server.tokenOf(victim);
      const read = async (group: string) =>
        (await rest(server.url, token, "GET", `/iam/v2beta1/groups/${group}`)).status;
      assert.deepEqual([await read(attacker.uid), await read(server.groupUid)], [200, 200]);
      const client = await enableScim(server, await createProvider(server, { issuer }, attacker.uid));
      const user = { schemas: [userSchema], userName: "victim", externalId: "victim", active: false };
      assert.equal((await client.send("POST", "/Users", user)).status, 201);
      assert.deepEqual([await read(attacker.uid), await read(server.groupUid)], [403, 200]);
    });

    it("a SCIM token is the actor of its changes in the audit log, which has no addresses", async () => {
      const provider = await createProvider(server);
      const client = await enableScim(server, provider);
      await client.send("POST", "/Users", {
        schemas: [userSchema],
        userName: "logged",
        emails: [{ value: "canary@acme.test" }],
      });
      const query = new URLSearchParams({ parent: server.groupUid, kind: "scim_users", actorUid: provider });
      const { body } = await rest(server.url, server.ownerToken, "GET", `/gatehouse/changes/v1/changes?${query}`);
      assert.equal(body.changes?.length, 1, JSON.stringify(body));
      assert.equal(body.changes[0].after.userName, "logged");
      assert.ok(!JSON.stringify(body).includes("canary"));
    });
  });
}
