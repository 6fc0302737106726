// The index of words: the search finds every name as it is now, however it was changed.
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { userUid } from "../../../src/services/iam/users/user-uid.ts";
import { findRow, updateRow } from "../../../src/storage/collection/rows.ts";
import { writeSetting } from "../../../src/storage/engine/settings.ts";
import { identityCollection } from "../../../src/storage/iam/collections.ts";
import { newBrowser, signInUrl } from "../../harness/browser.ts";
import { databases } from "../../harness/databases.ts";
import { untilNamesAreIndexed } from "../../harness/indexed-names.ts";
import { stopPostgres } from "../../harness/postgres.ts";
import { rest } from "../../harness/rest.ts";
import type { TestServer } from "../../harness/server.ts";
import { untilTrue } from "../../harness/until.ts";
import { createProvider, enableScim, startProvisionedServer, userSchema } from "../../scim/provisioning.ts";
import { turnableClock } from "../../security/ground.ts";
import { addCaller, addGroup, addPerson, addRole, arrange, bind, ownerRole, viewerRole } from "../../security/tree.ts";
import { client as oidcClient, startUpstream, type Upstream } from "../../sign-in/openid-client.ts";

after(stopPostgres);

for (const database of databases) {
  describe(`the index of the words of names (${database})`, () => {
    const clock = turnableClock();
    let server: TestServer;
    let upstream: Upstream;
    let root: string;
    let owner: { uid: string; token: string };

    before(async () => {
      upstream = await startUpstream();
      server = await startProvisionedServer({ database, clock: clock.read });
    });
    after(async () => {
      await server[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
    });
    beforeEach(async () => {
      clock.advance(60_000);
      root = await addGroup(server, null, "acme");
      owner = await addCaller(server, root, ownerRole.uid);
    });

    async function call(method: string, path: string, body?: object, token = owner.token) {
      const reply = await rest(server.url, token, method, path, body);
      assert.equal(reply.status, 200, `${method} ${path}: ${JSON.stringify(reply.body)}`);
      return reply.body;
    }

    /** Returns the names that the search finds once all changes are indexed. */
    async function found(query: string, kind = "GROUP", parent = root, token = owner.token): Promise<string[]> {
      await untilNamesAreIndexed(server);
      const all = new URLSearchParams({ parent, query, kinds: `RESOURCE_KIND_${kind}` });
      const { resources } = await call("GET", `/gatehouse/search/v1/resources:search?${all}`, undefined, token);
      return resources.map(({ name }: { name: string }) => name);
    }

    it("a created, renamed and deleted group is found by the words of its name now", async () => {
      const { uid } = await call("POST", `/iam/v2beta1/groups/${root}`, { name: "north-harbour" });
      assert.deepEqual(await found("harbour"), ["north-harbour"]);
      await call("PATCH", `/iam/v2beta1/groups/${uid}?update_mask=name`, { name: "north-station" });
      assert.deepEqual([await found("harbour"), await found("station")], [[], ["north-station"]]);
      await call("DELETE", `/iam/v2beta1/groups/${uid}`);
      assert.deepEqual(await found("station"), []);
    });

    it("roles, workloads, identity providers, repos and subscriptions are found by words, too", async () => {
      await call("POST", `/iam/v2beta1/roles/${root}`, { name: "read-ledgers", capabilities: ["CAP_IAM_GROUPS_LIST"] });
      const claimMatch = { issuer: "https://issuer.example.org", subject: "x" };
      await call("POST", `/iam/v2beta1/identities/${root}`, { name: "nightly backup", claimMatch });
      const oidc = { issuer: "https://sso.acme.test", clientId: "gatehouse", pkceEnabled: true };
      const provider = { name: "acme sso", defaultRole: viewerRole.uid, oidc };
      await call("POST", `/iam/v2beta1/identityProviders/${root}`, provider);
      await call("POST", `/registry/v2beta1/repos/${root}`, { name: "tools scanner" });
      await call("POST", `/events/v2beta1/subscriptions/${root}`, { sink: "https://hooks.example.com/secret" });
      assert.deepEqual(await found("ledgers", "ROLE"), ["read-ledgers"]);
      assert.deepEqual(await found("backup", "IDENTITY"), ["nightly backup"]);
      assert.deepEqual(await found("sso", "IDENTITY_PROVIDER"), ["acme sso"]);
      assert.deepEqual(await found("scanner", "REPO"), ["tools scanner"]);
      assert.deepEqual(await found("example hooks", "SUBSCRIPTION"), ["hooks.example.com"]);
      assert.deepEqual(await found("secret", "SUBSCRIPTION"), []);
    });

    it("what a file applies, prunes and deletes with its group is found while it is there", async () => {
      const organization = { organization: { name: "forge" } };
      const resources = [organization, { group: { name: "south-forge" } }, { group: { name: "west-forge" } }];
      const apply = (body: object) => call("POST", "/gatehouse/apply/v1/resources:apply", body, server.ownerToken);
      const { groupUid } = await apply({ resources });
      const names = () => found("forge", "GROUP", groupUid, server.ownerToken);
      assert.deepEqual(await names(), ["forge", "south-forge", "west-forge"]);
      await apply({ groupUid, resources: resources.slice(0, 2), prune: true });
      assert.deepEqual(await names(), ["forge", "south-forge"]);
      await addGroup(server, groupUid, "old-forge");
      const [uid] = await uidsOf("south", groupUid);
      await call("POST", `/gatehouse/apply/v1/groups/${uid}:destroySubtree`, {}, server.ownerToken);
      assert.deepEqual(await names(), ["forge", "old-forge"]);
    });

    async function uidsOf(query: string, parent: string): Promise<string[]> {
      const all = new URLSearchParams({ parent, query });
      const { resources } = await call(
        "GET",
        `/gatehouse/search/v1/resources:search?${all}`,
        undefined,
        server.ownerToken,
      );
      return resources.map(({ uid }: { uid: string }) => uid);
    }

    it("what an import brings is found", async () => {
      const uid = `${root}/00000000000000aa`;
      const path = `/gatehouse/organizations/v1/organizations/${root}:importResources`;
      await call("POST", path, { resources: [{ group: { uid, name: "moved-warehouse" } }] }, server.ownerToken);
      assert.deepEqual(await found("warehouse"), ["moved-warehouse"]);
    });

    it("a person is found from the moment of joining until they leave, and with the new name", async () => {
      const uid = await addPerson(server, "Maria Silva", "maria@example.org", undefined);
      await bind(server, root, uid, viewerRole.uid);
      assert.deepEqual(await found("silva", "PERSON"), []);
      const token = await server.tokenOf(uid);
      await call("POST", "/gatehouse/iam/v1/memberships:accept", { organization: root }, token);
      assert.deepEqual(await found("silva", "PERSON"), ["Maria Silva"]);
      await arrange(server, async (tx) => {
        const row = (await findRow(tx, identityCollection, uid))!;
        await updateRow(tx, identityCollection, row, { ...row, name: "maria costa" });
      });
      assert.deepEqual([await found("silva", "PERSON"), await found("costa", "PERSON")], [[], ["maria costa"]]);
      await call("POST", "/gatehouse/iam/v1/memberships:leave", { organization: root }, token);
      assert.deepEqual(await found("costa", "PERSON"), []);
    });

    it("a person who joins by a call of a program is found, and not after the account is deleted", async () => {
      const uid = await addPerson(server, "Per Olsen", "per@example.org", undefined);
      await bind(server, root, uid, viewerRole.uid);
      const token = await server.tokenOf(uid);
      await call("GET", `/iam/v2beta1/groups/${root}`, undefined, token);
      assert.deepEqual(await found("olsen", "PERSON"), ["Per Olsen"]);
      await call("DELETE", `/auth/v1/delete/${uid}`, undefined, token);
      assert.deepEqual(await found("olsen", "PERSON"), []);
    });

    it("a provisioned person is found with the name and the new address of each sign-in", async () => {
      const { issuer } = upstream;
      const oidc = { issuer, clientId: oidcClient.id, clientSecret: oidcClient.secret };
      const provider = await createProvider(server, oidc);
      const scim = await enableScim(server, provider);
      const user = { schemas: [userSchema], userName: "kim@acme.test", externalId: "kim", active: true };
      assert.equal((await scim.send("POST", "/Users", user)).status, 201);
      const people = (query: string) => found(query, "PERSON", server.groupUid, server.ownerToken);
      for (const email of ["kim@first.example", "kim@second.example"]) {
        upstream.behaviour.claims = { sub: "kim", name: "Kim Berg", email, email_verified: true };
        const browser = newBrowser();
        const url = new URL(signInUrl(server.url, { idp_id: provider }));
        url.searchParams.delete("client_id");
        const begun = await browser.request(url.href);
        await browser.request(upstream.authorize(new URL(begun.headers.get("location") ?? assert.fail(begun.text))));
        assert.deepEqual((await people("berg")).length, 1, email);
      }
      assert.deepEqual([(await people("second.example")).length, await people("first.example")], [1, []]);
      assert.notEqual(userUid(issuer, "kim"), "");
    });

    it("a search says that it may miss something until all names are indexed", async () => {
      await addGroup(server, root, "slow-canal");
      await untilNamesAreIndexed(server);
      const isTruncated = async () => {
        const all = new URLSearchParams({ parent: root, query: "canal", kinds: "RESOURCE_KIND_GROUP" });
        return (await call("GET", `/gatehouse/search/v1/resources:search?${all}`)).truncated;
      };
      assert.equal(await isTruncated(), false);
      const set = (name: string, value: object) =>
        arrange(server, (tx) => writeSetting(tx, name, JSON.stringify(value)));
      // Another server holds the lease, and has not begun.
      await set("name_words_lease", { holder: "another", until: clock.read() + 15_000 });
      await set("name_words", { position: 0, kind: "" });
      assert.equal(await isTruncated(), true);
      clock.advance(15_000);
      await untilTrue(async () => !(await isTruncated()));
      assert.deepEqual(await found("canal"), ["slow-canal"]);
    });

    it("words of names that no more exist are gone from the table", async () => {
      const group = await addGroup(server, root, "unheard-of-brickyard");
      const person = await addPerson(server, "Ida Brickyard", "ida@example.org", root);
      const role = await addRole(server, group, []);
      const words = async () => {
        await untilNamesAreIndexed(server);
        const { session } = server.server.database;
        const statement = session.prepared("test.words", (db, { nameWords }) => db.select().from(nameWords));
        return (await statement.execute()).filter(({ word }) => word === "brickyard").length;
      };
      assert.equal(await words(), 2);
      await call("DELETE", `/iam/v2beta1/roles/${role}`);
      await call("DELETE", `/iam/v2beta1/groups/${group}`);
      await call("DELETE", `/auth/v1/delete/${person}`, undefined, await server.tokenOf(person));
      assert.equal(await words(), 0);
    });
  });
}
