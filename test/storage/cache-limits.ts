// Tests of values that are not cached, or evicted: large or rarely used values, other snapshots, and changes that the log lacks.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { bytesOf, newReadCache } from "../../src/storage/cache/read-cache.ts";
import { newRowCache } from "../../src/storage/cache/row-cache.ts";
import { findRow, insertRow, updateRow } from "../../src/storage/collection/rows.ts";
import { identityCollection } from "../../src/storage/iam/collections.ts";
import type { Condition, ListQuery, Source } from "../../src/storage/list/list-rows.ts";
import { sql } from "../../src/storage/schema/drizzle.ts";
import { limits, newEmptyPageCache, ofItself, read, readPage, readTwice, whole } from "./cached-reads.ts";
import { plant } from "./edits.ts";
import { groupRow, groups, identityRow, write } from "./fixtures.ts";
import type { OpenStore } from "./stores.ts";

/** Declares the tests of the limits of the caches. */
export function cacheLimitsConformance(open: OpenStore): void {
  describe("what is not cached", () => {
    for (const [what, size] of [
      ["that are too large", { maxEntryBytes: 1000 }],
      ["with keys that are too long", { maxKeyLength: 100 }],
    ] as const) {
      it(`pages ${what} are never cached`, async () => {
        await using store = await open();
        const { database } = store;
        const [group] = await plant(database);
        const pages = newEmptyPageCache(database, { ...limits, ...size });
        for (let i = 0; i < 3; i++) assert.ok(!Object.isFrozen(await read(database, pages, group!)));
      });
    }

    it("rows and pages of a collection with unlogged columns are never cached", async () => {
      await using store = await open();
      const { database } = store;
      const [group] = await plant(database);
      const identity = identityRow(group!.uid, 1);
      await write(database, (tx) => insertRow(tx, identityCollection, identity as never));
      const pages = newEmptyPageCache(database, limits);
      const found = newRowCache(newReadCache(limits), database.session);
      const query: ListQuery = { ...whole, sources: [{ type: "subtree", uid: group!.uid }] };
      for (let i = 0; i < 3; i++) {
        const { rows } = await database.read((session) => pages.read(session, identityCollection, query));
        assert.ok(!Object.isFrozen(rows));
        assert.ok(!Object.isFrozen(await found.find(identityCollection, identity.uid)));
      }
    });

    for (const followsRows of [true, false]) {
      const what = followsRows ? "the rows alone are cached" : "more than the rows are never cached";
      it(`pages under a condition that looks at ${what}`, async () => {
        await using store = await open();
        const { database } = store;
        const [group] = await plant(database);
        const pages = newEmptyPageCache(database, limits);
        const condition: Condition = {
          name: "any",
          build: () => sql`1 = 1`,
          values: {},
          dependsOnRowsOnly: followsRows,
        };
        const query: ListQuery = { ...whole, sources: [{ type: "subtree", uid: group!.uid }], condition };
        const ask = async () => (await database.read((session) => pages.read(session, groups, query))).rows;
        for (let i = 0; i < 2; i++) await ask();
        assert.equal(Object.isFrozen(await ask()), followsRows);
      });
    }

    it("pages do not evict others that are still read, until those no longer are", async () => {
      await using store = await open();
      const { database } = store;
      const [here, there] = await plant(database);
      const rows = await read(database, newEmptyPageCache(database, limits), here!);
      const one = bytesOf(rows);
      // Room for one of them, and not for two.
      const pages = newEmptyPageCache(database, { ...limits, maxEntryBytes: one, maxBytes: one * 1.5, recentReads: 6 });
      const kept = await readTwice(database, pages, here!);
      const other = () => readPage(database, pages, [{ type: "subtree", uid: there!.uid }]);
      for (let i = 0; i < 3; i++) assert.ok(!Object.isFrozen((await other()).rows));
      assert.ok((await read(database, pages, here!)) === kept);
      for (let i = 0; i < 8; i++) await other();
      assert.ok(Object.isFrozen((await other()).rows));
    });

    it("pages are read again after more changes than the tracker keeps", async () => {
      await using store = await open();
      const { database } = store;
      const [here, there] = await plant(database);
      const pages = newEmptyPageCache(database, { ...limits, maxKeys: 6 });
      const before = await readTwice(database, pages, here!);
      await write(database, (tx) => insertRow(tx, groups, groupRow(here!.uid, "new")));
      await write(database, (tx) => insertRow(tx, groups, groupRow(there!.uid, "of another place")));
      assert.equal((await read(database, pages, here!)).length, before.length + 1);
    });

    it("pages are those of the snapshot of a read, although a later one is cached", async () => {
      await using store = await open();
      const { database } = store;
      const other = await store.open();
      const [group] = await plant(database);
      const pages = newEmptyPageCache(database, limits);
      const sources: Source[] = [{ type: "subtree", uid: group!.uid }];
      const before = await readPage(database, pages, sources);
      const query: ListQuery = { ...whole, limit: 100, sources };
      const { total, rows } = await database.read(async (session) => {
        await findRow(session, groups, group!.uid);
        await write(other, async (tx) => {
          await insertRow(tx, groups, groupRow(group!.uid, "meanwhile"));
          await updateRow(tx, groups, group!, { ...group!, description: "meanwhile" });
        });
        for (let i = 0; i < 2; i++) {
          const page = await other.read((later) => pages.read(ofItself(later), groups, query));
          assert.equal(page.total, before.total + 1);
        }
        return await pages.read(ofItself(session), groups, query);
      });
      assert.deepEqual({ total, rows }, { total: before.total, rows: before.rows });
    });
  });
}
