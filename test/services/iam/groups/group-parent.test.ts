// The ends of uids by which the parent of a new group may be named; names are in test/api/cases/iam/groups/parent.json.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { parentOf } from "../../../../src/model/uid.ts";
import { insertRow } from "../../../../src/storage/collection/rows.ts";
import { groupCollection } from "../../../../src/storage/iam/collections.ts";
import { databases } from "../../../harness/databases.ts";
import { stopPostgres } from "../../../harness/postgres.ts";
import { rest } from "../../../harness/rest.ts";
import { startTestServer, type TestServer } from "../../../harness/server.ts";

const context = { actor: "", method: "test", requestId: "", time: 1 };
const segments = ["0123456789abcdef", "fedcba9876543210"] as const;

/** Inserts a group of this uid. */
async function addGroup({ server: { database } }: TestServer, uid: string): Promise<string> {
  const parent = uid.includes("/") ? parentOf(uid) : null;
  await database.write(context, (tx) =>
    insertRow(tx, groupCollection, {
      uid,
      parent,
      name: "group",
      description: "",
      resourceLimits: {},
      verified: false,
      kind: 0,
      status: 0,
      createTime: 1,
      updateTime: 1,
    }),
  );
  return uid;
}

after(stopPostgres);

for (const database of databases) {
  describe(`the end of a parent's uid, on ${database}`, () => {
    let server: TestServer;
    let upper: string;
    let lower: string;
    before(async () => {
      server = await startTestServer({ database });
      upper = await addGroup(server, `${server.groupUid}/${segments[0]}`);
      lower = await addGroup(server, `${upper}/${segments[1]}`);
    });
    after(() => server[Symbol.asyncDispose]());

    const create = (parent: string) =>
      rest(server.url, server.ownerToken, "POST", `/iam/v2beta1/groups/${parent}`, { name: "new" });
    async function refused(parent: string): Promise<string> {
      const { status, body } = await create(parent);
      assert.deepEqual([status, body.details[1].fieldViolations[0].field], [400, "parent"], parent);
      return body.message;
    }

    it("names the group, by one segment or several", async () => {
      for (const [end, uid] of [
        [segments[0], upper],
        [segments[1], lower],
        [segments.join("/"), lower],
      ] as const) {
        const { status, body } = await create(end);
        assert.deepEqual([status, parentOf(body.uid)], [200, uid], end);
      }
    });

    it("consists of whole segments, without that of the organization", async () => {
      for (const end of [
        segments[0].slice(1),
        `${segments[0]}0`,
        server.groupUid.slice(-16),
        segments[1].toUpperCase(),
      ])
        await refused(end);
    });

    it("does not match groups that the caller cannot list", async () => {
      const hidden = await addGroup(server, "f".repeat(40));
      await addGroup(server, `${hidden}/${segments[0]}`);
      const { status, body } = await create(segments[0]);
      assert.deepEqual([status, parentOf(body.uid)], [200, upper]);
    });

    it("must match exactly one group", async () => {
      await addGroup(server, `${server.groupUid}/${segments[1]}`);
      assert.match(await refused(segments[1]), /several groups/);
      assert.equal((await create(segments.join("/"))).status, 200);
    });
  });
}
