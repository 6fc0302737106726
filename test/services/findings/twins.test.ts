// Tests of findings of equal resources that one caller created within a minute.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Capability } from "../../../gen/chainguard/capabilities/capabilities_pb.ts";
import { databases } from "../../harness/databases.ts";
import { rest } from "../../harness/rest.ts";
import { startTestServer, type TestServer } from "../../harness/server.ts";
import { addCaller, addGroup, addRole, ownerRole } from "../../security/tree.ts";

interface Finding {
  readonly resourceUid: string;
  readonly resourceName: string;
  readonly identity: { readonly uid: string };
  readonly twin: { readonly kind: string; readonly firstUid: string };
}

for (const database of databases) {
  describe(`findings of twins (${database})`, () => {
    let server: TestServer;
    let owner: { uid: string; token: string };
    let root: string;
    let time = Date.now();

    before(async () => {
      server = await startTestServer({ database, clock: () => time });
      root = await addGroup(server, null, "example.org");
      owner = await addCaller(server, root, ownerRole.uid);
    });
    after(() => server[Symbol.asyncDispose]());

    async function post(path: string, body: object, token = owner.token): Promise<string> {
      const { status, body: created } = await rest(server.url, token, "POST", path, body);
      assert.equal(status, 200, JSON.stringify(created));
      return created.uid;
    }

    const create = (parent: string, group: object, token?: string) =>
      post(`/iam/v2beta1/groups/${parent}`, group, token);

    async function list(parent: string, token = owner.token): Promise<Finding[]> {
      const query = new URLSearchParams({ parent, kinds: "FINDING_KIND_TWIN" });
      const { status, body } = await rest(server.url, token, "GET", `/gatehouse/organizations/v1/findings?${query}`);
      assert.equal(status, 200, JSON.stringify(body));
      assert.equal(body.totalCount, String(body.findings?.length ?? 0));
      return body.findings ?? [];
    }

    const pairs = (findings: readonly Finding[]) =>
      findings.map(({ resourceUid, twin }) => [twin.firstUid, resourceUid]);

    it("names a group that was created twice, the first one and the maker, until one is deleted", async () => {
      const parent = await create(root, { name: "shops" });
      const first = await create(parent, { name: "shop", description: "sells anvils" });
      time += 59_000;
      const second = await create(parent, { name: "shop", description: "sells anvils" });
      const found = await list(root);
      assert.deepEqual(pairs(found), [[first, second]]);
      assert.deepEqual(
        [found[0]!.resourceName, found[0]!.twin.kind, found[0]!.identity.uid],
        ["shop", "groups", owner.uid],
      );
      assert.equal((await rest(server.url, owner.token, "DELETE", `/iam/v2beta1/groups/${first}`)).status, 200);
      assert.deepEqual(await list(root), []);
    });

    it("names each repetition of a create with the one before it", async () => {
      const parent = await create(root, { name: "thrice" });
      const made: string[] = [];
      for (let i = 0; i < 3; i++, time += 1000) made.push(await create(parent, { name: "shop" }));
      const expected = [
        [made[0], made[1]],
        [made[1], made[2]],
      ];
      assert.deepEqual(pairs(await list(parent)).toSorted(), expected.toSorted());
    });

    it("finds no twin with other content, in another group, of another maker or a minute later", async () => {
      const parent = await create(root, { name: "different" });
      const other = await addCaller(server, root, ownerRole.uid);
      await create(parent, { name: "shop" });
      await create(parent, { name: "shop", description: "sells anvils" });
      await create(await create(parent, { name: "subgroup" }), { name: "shop" });
      await create(parent, { name: "shop" }, other.token);
      time += 120_000;
      await create(parent, { name: "shop" });
      assert.deepEqual(await list(parent), []);
    });

    it("finds no twin where a create was repeated with its idempotency key", async () => {
      const parent = await create(root, { name: "keyed" });
      const headers = { authorization: `Bearer ${owner.token}`, "idempotency-key": "once" };
      const body = JSON.stringify({ name: "shop" });
      const uids: string[] = [];
      for (let i = 0; i < 2; i++) {
        const response = await fetch(`${server.url}/iam/v2beta1/groups/${parent}`, { method: "POST", headers, body });
        uids.push(((await response.json()) as { uid: string }).uid);
      }
      assert.equal(uids[0], uids[1]);
      assert.deepEqual(await list(parent), []);
    });

    it("finds identities, roles and subscriptions, where the caller may list them", async () => {
      const parent = await create(root, { name: "kinds" });
      const claimMatch = { issuer: "https://issuer.example.org", subject: "job" };
      const bodies = [
        ["identities", `/iam/v2beta1/identities/${parent}`, { name: "job", claimMatch }],
        ["roles", `/iam/v2beta1/roles/${parent}`, { name: "reader", capabilities: ["CAP_IAM_GROUPS_LIST"] }],
        ["subscriptions", `/events/v2beta1/subscriptions/${parent}`, { sink: "https://hooks.example.org/" }],
      ] as const;
      const expected: string[][] = [];
      for (const [kind, path, body] of bodies) {
        const first = await post(path, body);
        time += 1000;
        expected.push([kind, first, await post(path, body)]);
      }
      const shown = (findings: readonly Finding[]) =>
        findings.map(({ twin, resourceUid }) => [twin.kind, twin.firstUid, resourceUid]).toSorted();
      assert.deepEqual(shown(await list(parent)), expected);
      const capabilities = [Capability.CAP_IAM_GROUPS_LIST, Capability.CAP_IAM_ROLES_LIST];
      const { token } = await addCaller(server, parent, await addRole(server, root, capabilities));
      assert.deepEqual(shown(await list(parent, token)), [expected[1]]);
    });
  });
}
