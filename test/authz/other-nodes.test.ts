// Tests of the grants that one node caches while another node changes them, also when the database answers late.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { openDatabase } from "../../src/storage/database.ts";
import { defaultDatabaseLimits } from "../../src/storage/engine/dialect.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { rest } from "../harness/rest.ts";
import { startTwoNodes, type TwoNodes } from "../harness/two-nodes.ts";
import { addCaller, addGroup, ownerRole, viewerRole } from "../security/tree.ts";

/** The maximum age of the grants by which a node admits a call, with a margin, in milliseconds. */
const maxAgeMs = 260;

let nodes: TwoNodes;

after(stopPostgres);

const isEpochRead = (request: Buffer) => request.includes("access_epoch");
const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

describe("two nodes on one database", () => {
  before(async () => {
    nodes = await startTwoNodes();
  });
  after(() => nodes[Symbol.asyncDispose]());

  describe("a revocation by another node", () => {
    it("a revocation takes effect after the maximum age of grants, regardless of late responses of the database", async () => {
      const { one, other, proxy } = nodes;
      const group = await addGroup(one, one.groupUid);
      const { token, binding } = await addCaller(one, group, viewerRole.uid);
      const get = async () => (await rest(other.url, token, "GET", `/iam/v2beta1/groups/${group}`)).status;
      assert.equal(await get(), 200);
      await pause(maxAgeMs);

      const late = Promise.withResolvers<void>();
      let held = 0;
      const isHeld = Promise.withResolvers<void>();
      proxy.beforeResponse = async (request) => {
        if (!isEpochRead(request) || held++ > 0) return;
        isHeld.resolve();
        await late.promise;
      };
      // Begun before the revocation: it may be admitted.
      const earlier = get();
      await isHeld.promise;
      const path = `/iam/v2beta1/roleBindings/${binding}`;
      assert.equal((await rest(one.url, one.ownerToken, "DELETE", path)).status, 200);
      await pause(maxAgeMs);
      const calls = Array.from({ length: 5 }, get);
      await pause(20);
      late.resolve();
      assert.deepEqual(await Promise.all(calls), [403, 403, 403, 403, 403]);
      await earlier;
      // The result of the late read is discarded.
      assert.equal(await get(), 403);
      proxy.beforeResponse = undefined;
    });
  });

  describe("the reading of the access epoch", () => {
    it("uses at most four concurrent statements, and no caller waits for one without a response", async () => {
      const { proxy } = nodes;
      const database = await openDatabase(proxy.url, defaultDatabaseLimits);
      const { accessEpoch } = database;
      await accessEpoch.latest();
      const silent = Promise.withResolvers<void>();
      let [reads, unanswered] = [0, 0];
      proxy.beforeRequest = async (request) => {
        if (isEpochRead(request)) reads++;
      };
      proxy.beforeResponse = async (request) => {
        if (isEpochRead(request) && unanswered++ < 3) await silent.promise;
      };
      const asked: PromiseLike<number>[] = [];
      for (let i = 0; i < 50; i++) {
        accessEpoch.invalidate();
        asked.push(Promise.resolve(accessEpoch.current()), Promise.resolve(accessEpoch.latest()));
      }
      // Of the four the last one is answered.
      await asked.at(-1);
      assert.ok(reads <= 6, `${reads}`);
      silent.resolve();
      await Promise.all(asked);
      proxy.beforeRequest = undefined;
      proxy.beforeResponse = undefined;
      await database.close();
    });
  });

  describe("what another node has granted", () => {
    it("is effective at once where it would be denied: an organization can be used by its creator", async () => {
      const { one, other } = nodes;
      for (let i = 0; i < 5; i++) {
        // The node has read the grants a moment ago.
        await rest(other.url, one.ownerToken, "GET", `/iam/v2beta1/groups/${one.groupUid}`);
        const made = await rest(one.url, one.ownerToken, "POST", "/iam/v2beta1/groups", { name: `org-${i}` });
        const { uid } = made.body;
        for (const [method, path, body] of [
          ["GET", `/iam/v2beta1/groups/${uid}`],
          ["GET", `/iam/v1/groups?id=${uid}`],
          ["POST", `/iam/v2beta1/groups/${uid}`, { name: "team" }],
          ["PATCH", `/iam/v2beta1/groups/${uid}`, { description: "of ours" }],
        ] as const) {
          const { status } = await rest(other.url, one.ownerToken, method, path, body);
          assert.equal(status, 200, `${method} ${path}`);
        }
      }
    });

    it("handlers find a role that was just granted: it can be granted to others", async () => {
      const { one, other } = nodes;
      const group = await addGroup(one, one.groupUid);
      const { uid, token } = await addCaller(one, group, viewerRole.uid);
      await rest(other.url, token, "GET", `/iam/v2beta1/groups/${group}`);
      await rest(one.url, one.ownerToken, "POST", `/iam/v2beta1/roleBindings/${group}`, {
        identityUid: uid,
        roleUid: ownerRole.uid,
      });
      const invite = { roleUid: ownerRole.uid, ttl: "60s" };
      assert.equal((await rest(other.url, token, "POST", `/iam/v2beta1/groupInvites/${group}`, invite)).status, 200);
    });

    it("many calls that are denied at once share one read", async () => {
      const { one, other, proxy } = nodes;
      const group = await addGroup(one, one.groupUid);
      const { token } = await addCaller(one, group, viewerRole.uid);
      const ask = async () => (await rest(other.url, token, "DELETE", `/iam/v2beta1/groups/${group}`)).status;
      assert.equal(await ask(), 403);
      let reads = 0;
      proxy.beforeRequest = async (request) => {
        if (isEpochRead(request)) reads++;
      };
      const statuses = await Promise.all(Array.from({ length: 200 }, ask));
      proxy.beforeRequest = undefined;
      assert.deepEqual([...new Set(statuses)], [403]);
      assert.ok(reads < 100, `${reads}`);
    });
  });
});
