// Names that are longer than the sort prefix: older databases have them, from before names were limited.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setImmediate } from "node:timers/promises";
import { checkDatabase, repairDatabase } from "../../src/storage/check/check-database.ts";
import { insertRow } from "../../src/storage/collection/rows.ts";
import type { Session } from "../../src/storage/engine/session.ts";
import { findChildGroups, findGroupsNamed, findVerifiedRoots } from "../../src/storage/iam/group-names.ts";
import { collections, type GroupRow, groupRow, groups, uidOf, write } from "./fixtures.ts";
import type { OpenStore, Store } from "./stores.ts";

const begin = "é".repeat(384);
const root = groupRow(null, "root", { name: `${begin}, the root`, verified: true });
const other = groupRow(null, "other", { name: `${begin}, the other`, verified: true });
const named = [begin, `${begin}a`, `${begin}b`].map((name) => groupRow(root.uid, name, { name }));

async function insertAll({ database }: Store): Promise<void> {
  await write(database, async (tx) => {
    for (const row of [root, other, ...named]) await insertRow(tx, groups, row);
  });
}

const uids = (rows: readonly Pick<GroupRow, "uid">[]) => rows.map(({ uid }) => uid);

/** Declares the tests of long names. */
export function orderedNamesConformance(open: OpenStore): void {
  describe("long names", () => {
    it("long names with the same prefix are distinguished if a group is found by name", async () => {
      await using store = await open();
      await insertAll(store);
      const { session } = store.database;
      for (const row of named) {
        assert.deepEqual(uids(await findChildGroups(session, root.uid, row.name, 5)), [row.uid]);
        assert.deepEqual(uids(await findGroupsNamed(session, row.name, [root.uid])), [row.uid]);
      }
      assert.deepEqual(uids(await findVerifiedRoots(session, other.name)), [other.uid]);
      assert.deepEqual(await findVerifiedRoots(session, begin), []);
    });

    it("long names are found among descendants of thousands of groups in as many statements as of one", async () => {
      await using store = await open();
      await insertAll(store);
      const { session } = store.database;
      const strangers = Array.from({ length: 3000 }, (_, i) => uidOf(null, i));
      const counted = async (name: string, within: readonly string[]) => {
        let statements = 0;
        const counting: Session = {
          ...session,
          prepared(key, build) {
            statements++;
            return session.prepared(key, build);
          },
        };
        return { uids: uids(await findGroupsNamed(counting, name, within)).sort(), statements };
      };
      const [alone, many] = [[root.uid], [...strangers, root.uid, other.uid]];
      for (const { uid, name } of [root, named[1]!]) {
        const expected = await counted(name, alone);
        assert.deepEqual(expected.uids, [uid]);
        assert.deepEqual(await counted(name, many), expected);
      }
      assert.deepEqual((await counted(root.name, [...strangers, other.uid])).uids, []);
    });

    it("long names are cut in the entries; a repair cuts those that are not", async () => {
      await using store = await open();
      await insertAll(store);
      await store.tamper(
        "UPDATE group_entries SET name = (SELECT name FROM groups WHERE groups.uid = rtrim(key, '/*') || tail)",
      );
      const check = () => store.database.read((session) => checkDatabase(session, collections));
      assert.notDeepEqual((await check()).findings, []);
      // The reads of one tick share a snapshot.
      await setImmediate();
      await write(store.database, (tx) => repairDatabase(tx, collections));
      assert.deepEqual((await check()).findings, []);
    });
  });
}
