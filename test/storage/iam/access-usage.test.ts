// How last uses of access are stored, merged and deleted, and when recording starts over, on both databases.
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { deleteRow, insertRow } from "../../../src/storage/collection/rows.ts";
import { accessRecording, noteBinding, removeAccessUsage, storeUses } from "../../../src/storage/iam/access-usage.ts";
import { databases } from "../../harness/databases.ts";
import { stopPostgres } from "../../harness/postgres.ts";
import { context, groupRow, groups, identities, identityRow, write } from "../fixtures.ts";
import { storeOpeners } from "../stores.ts";

after(stopPostgres);

const dayMs = 24 * 60 * 60 * 1000;

/** Returns a store with an organization, a subgroup and two identities. */
async function arrange(database: "sqlite" | "postgres") {
  const store = await storeOpeners[database]();
  const root = groupRow(null, 0);
  const folder = groupRow(root.uid, 1);
  const rows = [identityRow(root.uid, "a"), identityRow(root.uid, "b")].sort((a, b) => (a.uid < b.uid ? -1 : 1));
  await write(store.database, async (tx) => {
    for (const group of [root, folder]) await insertRow(tx, groups, group);
    for (const row of rows) await insertRow(tx, identities, row);
  });
  const [a, b] = rows.map(({ uid }) => uid);
  const put = (identityUid: string, groupUid: string, days: Record<number, number>) => {
    const read = new Map(Object.entries(days).map(([capability, day]) => [Number(capability), day]));
    return write(store.database, (tx) => storeUses(tx, [{ identityUid, groupUid, days: read }]));
  };
  const all = async () => {
    const stored = await store.tamper(
      "SELECT identity_uid, group_uid, days, last_time, bind_time FROM access_usage ORDER BY identity_uid, group_uid",
    );
    return stored.map(({ identity_uid, group_uid, days, last_time, bind_time }) => [
      identity_uid,
      group_uid,
      JSON.parse(String(days)),
      Number(last_time) / dayMs,
      Number(bind_time),
    ]);
  };
  return {
    store,
    root,
    folder,
    rows,
    a: a!,
    b: b!,
    put,
    all,
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
}

for (const database of databases) {
  describe(`stored uses of access on ${database}`, () => {
    it("a row has the last day of each capability, in any order of storing", async () => {
      await using ground = await arrange(database);
      const { root, a, put, all } = ground;
      await put(a, root.uid, { 7: 20_000, 8: 20_000 });
      await put(a, root.uid, { 7: 20_002, 9: 20_001 });
      await put(a, root.uid, { 7: 19_999, 8: 20_001 });
      assert.deepEqual(await all(), [[a, root.uid, { 7: 20_002, 8: 20_001, 9: 20_001 }, 20_002, 0]]);
    });

    it("uses of deleted identities and groups are left out, and deleted with them", async () => {
      await using ground = await arrange(database);
      const { store, root, folder, rows, a, b, put, all } = ground;
      await put(a, root.uid, { 7: 1 });
      await put(b, folder.uid, { 7: 1 });
      await put("missing", root.uid, { 7: 1 });
      await put(a, "missing", { 7: 1 });
      assert.equal((await all()).length, 2);
      await write(store.database, (tx) => deleteRow(tx, identities, rows[0]!));
      assert.deepEqual(await all(), [[b, folder.uid, { 7: 1 }, 1, 0]]);
      await write(store.database, (tx) => deleteRow(tx, groups, folder));
      assert.deepEqual(await all(), []);
    });

    it("a changed role binding is noted where it takes effect, and keeps the uses there", async () => {
      await using ground = await arrange(database);
      const { store, root, folder, a, put, all } = ground;
      const time = 3 * dayMs;
      await put(a, root.uid, { 7: 5 });
      await store.database.write({ ...context, time }, async (tx) => {
        await noteBinding(tx, { identityUid: a, parent: root.uid });
        await noteBinding(tx, { identityUid: a, parent: folder.uid });
      });
      assert.deepEqual(await all(), [
        [a, root.uid, { 7: 5 }, 5, time],
        [a, folder.uid, {}, 3, time],
      ]);
    });

    it("uses are deleted some time after the last day, in batches", async () => {
      await using ground = await arrange(database);
      const { store, root, folder, a, b, put, all } = ground;
      await put(a, root.uid, { 7: 1, 8: 3 });
      await put(b, root.uid, { 7: 2 });
      await put(b, folder.uid, { 7: 1 });
      assert.equal(await write(store.database, (tx) => removeAccessUsage(tx, 2 * dayMs, 1)), false);
      assert.deepEqual(
        (await all()).map(([identity, , days]) => [identity, days]),
        [
          [a, { 7: 1, 8: 3 }],
          [b, { 7: 2 }],
        ],
      );
      assert.equal(await write(store.database, (tx) => removeAccessUsage(tx, 2 * dayMs, 5)), true);
      assert.equal((await all()).length, 1);
    });

    it("recording starts over after a gap of more than a day, and after it was switched off", async () => {
      await using ground = await arrange(database);
      const { database: opened } = ground.store;
      const note = (time: number) => opened.write({ ...context, time }, accessRecording.note);
      assert.equal(await accessRecording.since(opened.session), undefined);
      await note(10);
      await note(10 + dayMs);
      await note(10);
      await note(10 + 2 * dayMs);
      assert.equal(await accessRecording.since(opened.session), 10);
      await note(11 + 3 * dayMs);
      assert.equal(await accessRecording.since(opened.session), 11 + 3 * dayMs);
      await write(opened, accessRecording.end);
      assert.equal(await accessRecording.since(opened.session), undefined);
      await note(12 + 3 * dayMs);
      assert.equal(await accessRecording.since(opened.session), 12 + 3 * dayMs);
    });
  });
}
