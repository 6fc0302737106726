// ETag and If-Match over the wire: a resource is changed only if it is still as the client has read it.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { ownerRole } from "../../src/authz/built-in-roles.ts";
import { type RawReply, sendRaw } from "../api/raw-rest.ts";
import { databases } from "../harness/databases.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { addCaller, addGroup, viewerRole } from "../security/tree.ts";

after(stopPostgres);

for (const database of databases)
  describe(`entity tags and If-Match, ${database}`, () => {
    let server: TestServer;
    let home: string;
    let token: string;

    before(async () => {
      server = await startTestServer({ database });
      home = await addGroup(server, null, `home-${database}`);
      await addCaller(server, home, ownerRole.uid);
      token = (await addCaller(server, home, ownerRole.uid)).token;
    });
    after(() => server[Symbol.asyncDispose]());

    const send = (method: string, target: string, body?: object, headers: Record<string, string> = {}) =>
      sendRaw(server.url, method, target, {
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json", ...headers },
        ...(body && { body: JSON.stringify(body) }),
      });
    const reasonOf = ({ json }: RawReply) =>
      json.details.find((detail: { "@type": string }) => detail["@type"].endsWith("ErrorInfo")).reason;
    const newGroup = (name: string) => send("POST", `/iam/v2beta1/groups/${home}`, { name });
    const patch = (uid: string, description: string, tag: string) =>
      send("PATCH", `/iam/v2beta1/groups/${uid}?update_mask=description`, { description }, { "if-match": tag });

    /** Resources with an update: where they are created, from what, and where one is read. */
    const resources: readonly [collection: string, path: (uid: string) => string, body: () => object][] = [
      ["groups", () => `/iam/v2beta1/groups/${home}`, () => ({ name: "tagged" })],
      [
        "identities",
        () => `/iam/v2beta1/identities/${home}`,
        () => ({ name: "tagged", claimMatch: { issuer: "https://issuer.example.org", subject: "tagged" } }),
      ],
      [
        "roles",
        () => `/iam/v2beta1/roles/${home}`,
        () => ({ name: "tagged", capabilities: ["CAP_IAM_GROUPS_LIST", "CAP_IAM_ROLES_LIST"] }),
      ],
      ["groupInvites", () => `/iam/v2beta1/groupInvites/${home}`, () => ({ ttl: "3600s", roleUid: viewerRole.uid })],
      ["repos", () => `/registry/v2beta1/repos/${home}`, () => ({ name: "tagged" })],
      ["accountAssociations", () => `/iam/v2beta1/accountAssociations/${home}`, () => ({ name: "tagged" })],
    ];
    for (const [collection, path, body] of resources)
      it(`a created one of ${collection} has the tag that it has when it is read`, async () => {
        const created = await send("POST", path(home), body());
        assert.equal(created.status, 200, created.text);
        const base = path(home).slice(0, path(home).lastIndexOf(`/${home}`));
        const uid = created.json.uid ?? created.json.group ?? home;
        const read = await send("GET", `${base}/${uid}`);
        assert.equal(read.status, 200, read.text);
        assert.match(String(created.headers.etag), /^"[\w-]{22}"$/);
        assert.equal(read.headers.etag, created.headers.etag);
      });

    it("a change with the tag that was read gives a new tag; the same change with the old tag is 412 and changes nothing", async () => {
      const { json, headers } = await newGroup("changing");
      const changed = await patch(json.uid, "first", String(headers.etag));
      assert.equal(changed.status, 200, changed.text);
      assert.notEqual(changed.headers.etag, headers.etag);
      const stale = await patch(json.uid, "second", String(headers.etag));
      assert.deepEqual([stale.status, stale.json.code, reasonOf(stale)], [412, 10, "ETAG_MISMATCH"]);
      const read = await send("GET", `/iam/v2beta1/groups/${json.uid}`);
      assert.equal(read.json.description, "first");
      assert.equal(read.headers.etag, changed.headers.etag);
    });

    for (const [rule, tagOf, status] of [
      ["one of several tags", (tag: string) => `"other", ${tag}`, 200],
      ["*", () => "*", 200],
      ["a weak tag of the same text, which never matches", (tag: string) => `W/${tag}`, 412],
      ["no tag", () => "", 412],
      ["a tag without quotes", (tag: string) => tag.replaceAll('"', ""), 412],
    ] as const)
      it(`If-Match may be ${rule}`, async () => {
        const { json, headers } = await newGroup("forms");
        const reply = await patch(json.uid, "changed", tagOf(String(headers.etag)));
        assert.equal(reply.status, status, reply.text);
      });

    it("a deletion with a stale tag deletes nothing", async () => {
      const { json, headers } = await newGroup("deleting");
      await patch(json.uid, "changed", "*");
      const remove = (tag: string) => send("DELETE", `/iam/v2beta1/groups/${json.uid}`, undefined, { "if-match": tag });
      assert.equal((await remove(String(headers.etag))).status, 412);
      const { headers: current } = await send("GET", `/iam/v2beta1/groups/${json.uid}`);
      assert.equal((await remove(String(current.etag))).status, 200);
    });

    it("a method that does not change the named resource rejects If-Match, and changes nothing", async () => {
      const reply = await send("POST", `/iam/v2beta1/groups/${home}`, { name: "unsupported" }, { "if-match": "*" });
      assert.deepEqual([reply.status, reasonOf(reply)], [400, "PRECONDITION_UNSUPPORTED"], reply.text);
      const { json } = await send("GET", "/iam/v2beta1/groups?name=unsupported");
      assert.equal((json.groups ?? []).length, 0);
    });

    it("permission and existence come before the tag", async () => {
      const absent = await patch(`${home}/${"f".repeat(16)}`, "x", '"any"');
      assert.equal(absent.status, 404, absent.text);
    });

    it("32 writers who read, change and write one resource lose no change", async () => {
      const { json } = await newGroup("contested");
      const uid = json.uid;
      let accepted = 0;
      async function add(): Promise<void> {
        for (;;) {
          const read = await send("GET", `/iam/v2beta1/groups/${uid}`);
          const count = Number(read.json.description || "0");
          const written = await patch(uid, String(count + 1), String(read.headers.etag));
          if (written.status === 200) return void accepted++;
          assert.equal(written.status, 412, written.text);
        }
      }
      await Promise.all(Array.from({ length: 32 }, add));
      const { json: last } = await send("GET", `/iam/v2beta1/groups/${uid}`);
      assert.deepEqual([accepted, last.description], [32, "32"]);
    });

    it("a use of an identity does not change its tag", async () => {
      const path = `/iam/v2beta1/identities/${home}`;
      const body = { name: "used", claimMatch: { issuer: "https://issuer.example.org", subject: "used" } };
      const { json, headers } = await send("POST", path, body);
      const { arrange } = await import("../security/tree.ts");
      const { touchIdentity } = await import("../../src/storage/iam/identities.ts");
      await arrange(server, (tx) => touchIdentity(tx, json.uid, server.clock() + 3_600_000));
      assert.equal((await send("GET", `/iam/v2beta1/identities/${json.uid}`)).headers.etag, headers.etag);
    });
  });
