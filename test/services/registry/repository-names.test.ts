// The names of repos in the registry, as far as they depend on verified organizations.
import assert from "node:assert/strict";
import { it } from "node:test";
import { findRow, updateRow } from "../../../src/storage/collection/rows.ts";
import { groupCollection } from "../../../src/storage/iam/collections.ts";
import { rest } from "../../harness/rest.ts";
import { startTestServer } from "../../harness/server.ts";
import { arrange } from "../../security/tree.ts";

it("the name of a repo begins with the name of its organization only while no other verified one has that name", async () => {
  await using server = await startTestServer();
  async function call(method: string, path: string, body?: object) {
    const reply = await rest(server.url, server.ownerToken, method, path, body);
    assert.equal(reply.status, 200, `${method} ${path}: ${JSON.stringify(reply.body)}`);
    return reply.body;
  }
  // By the row, since the API verifies no second organization of a name.
  const verify = (uid: string) =>
    arrange(server, async (tx) => {
      const row = (await findRow(tx, groupCollection, uid))!;
      await updateRow(tx, groupCollection, row, { ...row, verified: true });
    });
  const root = server.groupUid;
  const repo = await call("POST", `/registry/v2beta1/repos/${root}`, { name: "redis" });
  const nameOf = async () => (await call("GET", `/gatehouse/registry/v1/repositories/${repo.uid}`)).name;
  await verify(root);
  assert.equal(await nameOf(), "example.org/redis");
  const twin = await call("POST", "/iam/v2beta1/groups", { name: "example.org" });
  await verify(twin.uid);
  assert.equal(await nameOf(), `${root}/redis`);
});
