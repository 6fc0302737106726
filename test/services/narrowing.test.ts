// Security case X6: a token that is narrowed to groups or capabilities is bounded by them in all it does.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Narrowing } from "../../src/authn/caller.ts";
import { capabilitySet, findCapabilityByName } from "../../src/model/capabilities.ts";
import { rest } from "../harness/rest.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";

const groups = "/iam/v2beta1/groups";
let server: TestServer;
let inside: string;
let outside: string;

/** Calls as the owner, with a token of this narrowing. */
async function as(narrowing: Narrowing, method: string, path: string, body?: object) {
  return await rest(server.url, await server.tokenOf(server.ownerUid, narrowing), method, path, body);
}

describe("narrowed tokens", () => {
  before(async () => {
    server = await startTestServer();
    const create = async (name: string) =>
      (await rest(server.url, server.ownerToken, "POST", `${groups}/${server.groupUid}`, { name })).body.uid;
    inside = await create("inside");
    outside = await create("outside");
  });
  after(() => server[Symbol.asyncDispose]());

  describe("a token narrowed to a group", () => {
    it("lists only resources of the group", async () => {
      const { body } = await as({ scopes: [inside] }, "GET", groups);
      assert.deepEqual([body.groups.map(({ uid }: { uid: string }) => uid), body.totalCount], [[inside], "1"]);
    });

    it("reads and writes in the group", async () => {
      assert.equal((await as({ scopes: [inside] }, "GET", `${groups}/${inside}`)).status, 200);
      assert.equal((await as({ scopes: [inside] }, "POST", `${groups}/${inside}`, { name: "child" })).status, 200);
    });

    it("a token narrowed to a group neither reads nor writes outside of the group", async () => {
      for (const uid of [outside, server.groupUid]) {
        assert.equal((await as({ scopes: [inside] }, "GET", `${groups}/${uid}`)).status, 403);
        assert.equal((await as({ scopes: [inside] }, "POST", `${groups}/${uid}`, { name: "child" })).status, 403);
        assert.equal((await as({ scopes: [inside] }, "PATCH", `${groups}/${uid}`, { description: "x" })).status, 403);
      }
    });

    it("a token narrowed to a group cannot create a root group", async () => {
      assert.equal((await as({ scopes: [inside] }, "POST", groups, { name: "root" })).status, 403);
    });

    it("gains nothing from a scope that its identity does not hold", async () => {
      const scopes = ["0".repeat(40)];
      assert.equal((await as({ scopes }, "GET", groups)).status, 403);
      assert.equal((await as({ scopes }, "GET", `${groups}/${scopes[0]}`)).status, 403);
    });
  });

  describe("a token narrowed to capabilities", () => {
    const readOnly = () => ({ capabilities: capabilitySet([findCapabilityByName("groups.list")!.number]) });

    it("a token narrowed to capabilities may use the capabilities of the token", async () => {
      assert.equal((await as(readOnly(), "GET", groups)).status, 200);
      assert.equal((await as(readOnly(), "GET", `${groups}/${inside}`)).status, 200);
    });

    it("a token narrowed to capabilities may not use other capabilities of its identity", async () => {
      assert.equal((await as(readOnly(), "PATCH", `${groups}/${inside}`, { description: "x" })).status, 403);
      assert.equal((await as(readOnly(), "GET", "/iam/v2beta1/identities")).status, 403);
      assert.equal((await as(readOnly(), "POST", groups, { name: "root" })).status, 403);
    });
  });
});
