// Tests of the organization shown with groups, under concurrent requests.
import assert from "node:assert/strict";
import { after, it } from "node:test";
import { defaultDatabaseLimits } from "../../../../src/storage/engine/dialect.ts";
import { newMigratedDatabase } from "../../../harness/migrated.ts";
import { stopPostgres } from "../../../harness/postgres.ts";
import { rest } from "../../../harness/rest.ts";
import { startTestServer } from "../../../harness/server.ts";

after(stopPostgres);

it("lists of uncached subgroups do not wait for each other's connections", async () => {
  await using server = await startTestServer({ settings: { databaseUrl: await newMigratedDatabase() } });
  const { url, ownerToken, groupUid } = server;
  await rest(url, ownerToken, "POST", `/iam/v2beta1/groups/${groupUid}`, { name: "below" });
  const list = () => rest(url, ownerToken, "GET", `/iam/v2beta1/groups?uidp.children_of=${groupUid}`);
  for (let round = 0; round < 3; round++) {
    // It creates a binding, which invalidates all cached access.
    await rest(url, ownerToken, "POST", "/iam/v2beta1/groups", { name: `organization ${round}` });
    const replies = await Promise.all(Array.from({ length: 3 * defaultDatabaseLimits.poolSize }, list));
    for (const { status, body } of replies) assert.deepEqual([status, body.groups?.length], [200, 1]);
  }
});

it("lists show the present kind of an organization, also after they were cached", async () => {
  await using server = await startTestServer();
  const { url, ownerToken, groupUid } = server;
  await rest(url, ownerToken, "POST", `/iam/v2beta1/groups/${groupUid}`, { name: "below" });
  const kinds = async () => {
    const { body } = await rest(url, ownerToken, "GET", `/iam/v2beta1/groups?uidp.children_of=${groupUid}`);
    return body.groups.map(({ kind }: { kind?: string }) => kind);
  };
  const before = [await kinds(), await kinds(), await kinds()];
  assert.deepEqual(before, [[undefined], [undefined], [undefined]]);
  await rest(url, ownerToken, "PATCH", `/iam/v2beta1/groups/${groupUid}`, { kind: "ORG_KIND_DEV" });
  assert.deepEqual(await kinds(), ["ORG_KIND_DEV"]);
});
