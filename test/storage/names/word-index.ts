// The index of words: how it is filled, and what several servers write.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { insertRow } from "../../../src/storage/collection/rows.ts";
import type { Database } from "../../../src/storage/database.ts";
import { writeSetting } from "../../../src/storage/engine/settings.ts";
import { insertMembership } from "../../../src/storage/iam/memberships.ts";
import { isWordIndexFilled, nextIndexWrite } from "../../../src/storage/names/word-index.ts";
import { findCandidates } from "../../../src/storage/names/word-search.ts";
import { groupRow, groups, identities, identityRow, write } from "../fixtures.ts";
import type { OpenStore } from "../stores.ts";

/** Does the work that a server does in the background. Returns how many writes it took. */
async function indexAll(database: Database): Promise<number> {
  for (let writes = 0; ; writes++) {
    const next = await nextIndexWrite(database.session);
    if (!next) return writes;
    await write(database, next);
  }
}

/** Declares the tests of the index of words. */
export function wordIndexConformance(open: OpenStore): void {
  describe("the index of words", () => {
    it("the index of words is filled with the names that were there before it, in several writes", async () => {
      await using store = await open();
      const { database } = store;
      const root = groupRow(null, "acme", { name: "acme" });
      const person = { ...identityRow(null, "ana lopez"), email: "ana@example.org" };
      const children = Array.from({ length: 501 }, (_, i) => groupRow(root.uid, i, { name: `old-child${i}` }));
      await write(database, async (tx) => {
        await insertRow(tx, groups, root);
        for (const child of children) await insertRow(tx, groups, child);
        await insertRow(tx, identities, person);
        await insertMembership(tx, { identityUid: person.uid, groupUid: root.uid });
      });
      assert.equal(await isWordIndexFilled(database.session), false);
      assert.ok((await indexAll(database)) > 4);
      assert.equal(await isWordIndexFilled(database.session), true);
      const find = async (kind: string, word: string) =>
        (await findCandidates(database.session, { root: root.uid, kind, words: [word] })).uids;
      assert.equal((await find("groups", "child")).length, 501);
      assert.deepEqual(await find("groups", "child500"), [children.find(({ name }) => name === "old-child500")!.uid]);
      assert.deepEqual(await find("people", "lopez"), [person.uid]);
    });

    it("the index of words is filled again where changes were deleted before it followed them, and keeps no old words", async () => {
      await using store = await open();
      const { database } = store;
      const root = groupRow(null, "acme", { name: "acme old" });
      await write(database, (tx) => insertRow(tx, groups, root));
      await indexAll(database);
      // As after a year without a server.
      await store.tamper("UPDATE groups SET name = 'acme new'");
      await write(database, (tx) => writeSetting(tx, "changes_removed", "1000000000"));
      await indexAll(database);
      const find = async (word: string) =>
        (await findCandidates(database.session, { root: root.uid, kind: "groups", words: [word] })).uids;
      assert.deepEqual([await find("old"), await find("new")], [[], [root.uid]]);
    });

    it("two servers that do the same work at once do it once", async () => {
      await using store = await open();
      const other = await store.open();
      const root = groupRow(null, "acme", { name: "acme one" });
      await write(store.database, (tx) => insertRow(tx, groups, root));
      await indexAll(store.database);
      await write(store.database, (tx) => insertRow(tx, groups, groupRow(root.uid, "two", { name: "acme two" })));
      const [mine, theirs] = [await nextIndexWrite(store.database.session), await nextIndexWrite(other.session)];
      await write(store.database, mine!);
      await store.tamper("DELETE FROM name_words");
      await write(other, theirs!);
      assert.deepEqual(await store.tamper("SELECT * FROM name_words"), []);
    });
  });
}
