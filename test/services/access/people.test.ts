// The list of people: who holds a role at a group or below it, and what an organization learns of them.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { databases } from "../../harness/databases.ts";
import { rest } from "../../harness/rest.ts";
import { startTestServer, type TestServer } from "../../harness/server.ts";
import { addCaller, addGroup, addIdentity, addPerson, bind, ownerRole, viewerRole } from "../../security/tree.ts";

for (const database of databases) {
  describe(`the list of people (${database})`, () => {
    let server: TestServer;
    let root: string;
    let folder: string;
    let inner: string;
    let owner: { uid: string; token: string };
    const people: Record<string, string> = {};

    before(async () => {
      server = await startTestServer({ database });
      root = await addGroup(server, null, "example.org");
      folder = await addGroup(server, root, "folder");
      inner = await addGroup(server, folder, "inner");
      owner = await addCaller(server, root, ownerRole.uid);
      people.ana = await addPerson(server, "Ana", "ana@example.org", root);
      people.ben = await addPerson(server, "ben", "ben@mail.example.com", root);
      people.guest = await addPerson(server, "Guest", "guest@secret.example", undefined);
      people.elsewhere = await addPerson(
        server,
        "Elsewhere",
        "else@example.org",
        await addGroup(server, null, "other"),
      );
      await bind(server, root, people.ana, ownerRole.uid);
      await bind(server, inner, people.ana, viewerRole.uid);
      await bind(server, inner, people.ben, viewerRole.uid);
      await bind(server, folder, people.guest, viewerRole.uid);
      await bind(server, folder, await addIdentity(server, folder, { name: "ana, a workload" }), viewerRole.uid);
    });
    after(() => server[Symbol.asyncDispose]());

    async function list(group: string, query: Record<string, string> = {}, token = owner.token) {
      const path = `/access/v1/groups/${group}:people?${new URLSearchParams(query)}`;
      const { status, body } = await rest(server.url, token, "GET", path);
      assert.equal(status, 200, JSON.stringify(body));
      return body;
    }

    const uidsOf = (body: { people?: { identity: { uid: string } }[] }) =>
      (body.people ?? []).map(({ identity }) => identity.uid);

    it("lists people by name, pending members last, with the total, and no workloads", async () => {
      const body = await list(root);
      assert.deepEqual(uidsOf(body), [people.ana, people.ben, people.guest]);
      assert.equal(body.totalCount, "3");
      const descending = await list(root, { orderBy: "name desc" });
      assert.deepEqual(uidsOf(descending), [people.guest, people.ben, people.ana]);
    });

    it("shows who only holds a role in a subgroup, with the role and where", async () => {
      const [ben] = (await list(root, { query: "BEN" })).people;
      assert.equal(ben.identity.email, "ben@mail.example.com");
      assert.equal(ben.bindingCount, "1");
      const [{ roleName, groupUid, groupName }] = ben.bindings;
      assert.deepEqual({ roleName, groupUid, groupName }, { roleName: "viewer", groupUid: inner, groupName: "inner" });
      assert.ok(ben.joinTime);
      const [ana] = (await list(root, { query: "ana" })).people;
      assert.deepEqual(ana.bindings.map(({ roleName: name }: { roleName: string }) => name).sort(), [
        "owner",
        "viewer",
      ]);
    });

    it("the list of a subgroup has only roles held there", async () => {
      const body = await list(folder);
      assert.deepEqual(uidsOf(body), [people.ana, people.ben, people.guest]);
      assert.equal(body.people[0].bindingCount, "1");
      assert.deepEqual(uidsOf(await list(inner)), [people.ana, people.ben]);
    });

    it("hides the name and address of users who have not accepted the organization", async () => {
      const guest = (await list(root)).people.at(-1);
      assert.deepEqual(guest.identity, { uid: people.guest });
      assert.equal(guest.joinTime, undefined);
      for (const query of ["Guest", "secret.example", "Elsewhere"])
        assert.deepEqual(uidsOf(await list(root, { query })), []);
      assert.deepEqual(uidsOf(await list(root, { query: people.guest! })), [people.guest]);
    });

    it("finds a part of a name or an address, with wildcards as they are", async () => {
      assert.deepEqual(uidsOf(await list(root, { query: "mail.example" })), [people.ben]);
      assert.deepEqual(uidsOf(await list(root, { query: "%" })), []);
      assert.deepEqual(uidsOf(await list(root, { query: "b_n" })), []);
    });

    it("is read in pages, in both orders, and skips", async () => {
      for (const orderBy of ["name", "name desc"]) {
        const all = uidsOf(await list(root, { orderBy }));
        const read: string[] = [];
        for (let pageToken = "", first = true; first || pageToken !== ""; first = false) {
          const body = await list(root, { orderBy, pageSize: "1", pageToken });
          read.push(...uidsOf(body));
          assert.equal(body.totalCount, "3");
          pageToken = body.nextPageToken ?? "";
        }
        assert.deepEqual(read, all);
        assert.deepEqual(uidsOf(await list(root, { orderBy, skip: "2" })), all.slice(2));
      }
    });

    it("shows at most 20 role bindings of a person, and how many there are", async () => {
      const busy = await addPerson(server, "zoe", "zoe@example.org", root);
      const crowd = await addGroup(server, root, "crowd");
      for (let i = 0; i < 22; i++) await bind(server, await addGroup(server, crowd), busy, viewerRole.uid);
      const [zoe] = (await list(crowd)).people;
      assert.equal(zoe.bindings.length, 20);
      assert.equal(zoe.bindingCount, "22");
    });

    it("is denied without role_bindings.list at the group", async () => {
      const admin = await addCaller(server, folder, ownerRole.uid);
      const path = (group: string) => `/access/v1/groups/${group}:people`;
      assert.equal((await rest(server.url, admin.token, "GET", path(root))).status, 403);
      assert.equal((await rest(server.url, admin.token, "GET", path(folder))).status, 200);
    });

    it("rejects a page token of another query, a negative page size and an unknown order", async () => {
      const { nextPageToken } = await list(root, { pageSize: "1" });
      for (const [field, query] of [
        ["page_token", { pageToken: nextPageToken, query: "ana" }],
        ["page_size", { pageSize: "-1" }],
        ["order_by", { orderBy: "email" }],
      ] as const) {
        const path = `/access/v1/groups/${root}:people?${new URLSearchParams(query)}`;
        const { status, body } = await rest(server.url, owner.token, "GET", path);
        assert.equal(status, 400);
        assert.ok(JSON.stringify(body).includes(field), JSON.stringify(body));
      }
    });
  });
}
