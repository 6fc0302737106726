// Tests which changes a list has, and how many one call scans.
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { ListChangesRequestSchema } from "../../../gen/gatehouse/changes/v1/changes_pb.ts";
import { toTimestamp } from "../../../src/aip/timestamps.ts";
import { scanChanges } from "../../../src/services/audit-log/scan-changes.ts";
import { lastChange, readChanges } from "../../../src/storage/change-log/change-log.ts";
import type { Database } from "../../../src/storage/database.ts";
import { databases } from "../../harness/databases.ts";
import { stopPostgres } from "../../harness/postgres.ts";
import { context, uidOf } from "../../storage/fixtures.ts";
import { openSqliteStore, storeOpeners } from "../../storage/stores.ts";

after(stopPostgres);

const visible = { isWhole: true, shows: () => true };
const root = uidOf(null, "root");
const team = uidOf(root, "team");
const other = uidOf(null, "other");

/** One change of a group, by an actor, at a time. */
interface Made {
  readonly group?: string;
  readonly actor?: string;
  readonly time?: number;
  readonly kind?: string;
  readonly method?: string;
}

async function make(database: Database, changes: readonly Made[]): Promise<void> {
  for (const { group = root, actor = "", time = 1, kind = "groups", method = "test" } of changes)
    await database.write({ ...context, actor, time, method }, async (tx) => {
      tx.logChange({ kind, uid: group, groupUid: group, before: null, after: null });
    });
}

for (const name of databases) {
  const open = storeOpeners[name];
  describe(`changes of an organization (${name})`, () => {
    async function found(made: readonly Made[], request: MessageInitShape<typeof ListChangesRequestSchema>) {
      await using store = await open();
      const { database } = store;
      const before = await lastChange(database.session);
      await make(database, made);
      // Numbers go on where those of another test ended.
      const numbers = (await readChanges(database.session, before, 100)).map(({ sequence }) => sequence);
      const full = create(ListChangesRequestSchema, { parent: root, ...request });
      const looks = [
        { isFollowed: false, start: undefined },
        { isFollowed: true, start: before },
      ];
      const results: number[][] = [];
      for (const look of looks) {
        const places: number[] = [];
        let { start } = look;
        for (let hasMore = true; hasMore; ) {
          const looked = await scanChanges(database.session, full, { ...look, start, pageSize: 2, visible });
          assert.ok(looked.found.length <= 2);
          places.push(...looked.found.map(({ sequence }) => numbers.indexOf(sequence) + 1));
          ({ hasMore } = looked);
          start = looked.last?.sequence;
        }
        results.push(places);
      }
      const [latest, followed] = results;
      assert.deepEqual(latest?.toReversed(), followed);
      return followed;
    }

    const made = [
      { group: root, time: 1 },
      { group: other, time: 2 },
      { group: team, time: 3, actor: "a" },
      { group: root, time: 4, actor: "a", kind: "roles" },
      { group: team, time: 5, kind: "roles" },
      { group: other, time: 6, actor: "a" },
      { group: `${root.slice(0, -1)}f`, time: 7 },
      { group: root, time: 8, method: "/iam.GroupsService/UpdateGroup" },
    ];

    it("exclude those of other organizations", async () => assert.deepEqual(await found(made, {}), [1, 3, 4, 5, 8]));
    it("can be those of a subtree", async () => assert.deepEqual(await found(made, { parent: team }), [3, 5]));
    it("can be those of an actor", async () => assert.deepEqual(await found(made, { actorUid: "a" }), [3, 4]));
    it("can be those of a kind", async () => assert.deepEqual(await found(made, { kind: "roles" }), [4, 5]));
    for (const method of ["/iam.GroupsService/UpdateGroup", "GroupsService/UpdateGroup", "UpdateGroup"])
      it(`can be those of a method: ${method}`, async () => assert.deepEqual(await found(made, { method }), [8]));
    it("are not those of a method that ends alike", async () =>
      assert.deepEqual(await found(made, { method: "Group" }), []));
    it("can be those of a resource", async () => assert.deepEqual(await found(made, { resourceUid: team }), [3, 5]));
    it("can start at a time", async () =>
      assert.deepEqual(await found(made, { startTime: toTimestamp(4) }), [4, 5, 8]));
    it("can end before a time", async () =>
      assert.deepEqual(await found(made, { endTime: toTimestamp(5) }), [1, 3, 4]));
    it("are empty if nothing was changed", async () => assert.deepEqual(await found([{ group: other }], {}), []));
  });
}

describe("a list of changes", () => {
  it("scans a limited number at once, and continues from there", async () => {
    await using store = await openSqliteStore();
    const { database } = store;
    const wanted = [0, 2500];
    await database.write(context, async (tx) => {
      for (let i = 0; i < 3000; i++)
        tx.logChange({
          kind: wanted.includes(i) ? "roles" : "groups",
          uid: root,
          groupUid: root,
          before: null,
          after: null,
        });
    });
    const request = create(ListChangesRequestSchema, { parent: root, kind: "roles" });
    const first = await scanChanges(database.session, request, {
      isFollowed: false,
      start: undefined,
      pageSize: 50,
      visible,
    });
    assert.deepEqual(
      [first.found.length, first.hasMore, (await lastChange(database.session)) - first.last!.sequence],
      [1, true, 1999],
    );
    const second = await scanChanges(database.session, request, {
      isFollowed: false,
      start: first.last?.sequence,
      visible,
      pageSize: 50,
    });
    assert.deepEqual([second.found.length, second.hasMore], [1, false]);
  });
});
