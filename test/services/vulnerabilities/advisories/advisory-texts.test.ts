// Texts of advisories in memory: when they are kept, and that they follow what happens meanwhile.
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { newTextMemory, type TextLimits } from "../../../../src/storage/search/text-cache.ts";
import { stopPostgres } from "../../../harness/postgres.ts";
import { write } from "../../../storage/fixtures.ts";
import { openPostgresStore, openSqliteStore } from "../../../storage/stores.ts";
import { addAdvisory, findIn, limits, plantGroups } from "../search-fixtures.ts";

after(stopPostgres);

for (const [name, open] of [["SQLite", openSqliteStore] as const, ["PostgreSQL", openPostgresStore] as const]) {
  describe(`texts in memory on ${name}`, () => {
    it("are right while their texts are being indexed", async () => {
      await using store = await open();
      const { database } = store;
      const [group] = await plantGroups(database);
      for (let i = 0; i < 1200; i += 400)
        await write(database, async (tx) => {
          for (let at = i; at < i + 400; at++) await addAdvisory(tx, group, { artifactName: `old ${at}` });
        });
      let added = 0;
      const texts = newTextMemory(
        async (body) => {
          // One comes between any two of the snapshots that the texts are read on.
          await write(database, (tx) => addAdvisory(tx, group, { artifactName: `new ${added++}` }));
          return await database.read(body);
        },
        { ...limits, rows: 10_000 },
      );
      assert.equal(await findIn(database, texts, group, "new"), undefined);
      await texts.idle();
      assert.ok(added > 1);
      assert.equal((await findIn(database, texts, group, "new"))?.count, added);
      assert.equal((await findIn(database, texts, group, "old"))?.count, 1200);
      await texts.close();
    });

    it("are indexed once where they turn out to be too large to be kept", async () => {
      await using store = await open();
      const { database } = store;
      const [group] = await plantGroups(database);
      await write(database, (tx) => addAdvisory(tx, group, { artifactName: "some" }));
      let indexed = 0;
      const texts = newTextMemory(
        async (body) => {
          indexed++;
          return await database.read(body);
        },
        { ...limits, readings: 2, bytes: 100 },
      );
      for (let i = 0; i < 12; i++) {
        assert.equal(await findIn(database, texts, group, "some"), undefined);
        await texts.idle();
      }
      assert.equal(indexed, 1);
      await texts.close();
    });

    it("are indexed one range at a time: what is being indexed is not counted yet", async () => {
      await using store = await open();
      const { database } = store;
      const [above, below] = await plantGroups(database);
      await write(database, (tx) => addAdvisory(tx, below, { artifactName: "some" }));
      let [indexing, most] = [0, 0];
      const texts = newTextMemory(async (body) => {
        most = Math.max(most, ++indexing);
        await nextTurn();
        const found = await database.read(body);
        indexing--;
        return found;
      }, limits);
      const search = (group: string) => findIn(database, texts, group, "some");
      assert.deepEqual(await Promise.all([search(above), search(below)]), [undefined, undefined]);
      await texts.idle();
      for (const group of [above, below]) {
        await search(group);
        await texts.idle();
        assert.equal((await search(group))?.count, 1);
      }
      assert.equal(most, 1);
      await texts.close();
    });

    it("keep texts that are searched often, not too few, not too many, and only as long as they can be followed", async () => {
      await using store = await open();
      const { database } = store;
      const [group] = await plantGroups(database);
      const addSome = (count: number) =>
        write(database, async (tx) => {
          for (let i = 0; i < count; i++) await addAdvisory(tx, group, { artifactName: `some ${i}` });
        });
      await addSome(10);
      const isKeptAfter = async (readings: number, changed: Partial<TextLimits>) => {
        const texts = newTextMemory((body) => database.read(body), { ...limits, ...changed });
        for (let i = 0; i < readings; i++) {
          assert.equal(await findIn(database, texts, group, "some"), undefined);
          await texts.idle();
        }
        return { texts, found: await findIn(database, texts, group, "some") };
      };
      assert.equal((await isKeptAfter(3, { readings: 3 })).found, undefined);
      assert.equal((await isKeptAfter(1, { few: 10 })).found, undefined);
      assert.equal((await isKeptAfter(1, { rows: 9 })).found, undefined);
      assert.equal((await isKeptAfter(1, { bytes: 100 })).found, undefined);
      const { texts, found } = await isKeptAfter(4, { readings: 3, changes: 12 });
      assert.equal(found?.count, 10);
      await addSome(12);
      assert.equal((await findIn(database, texts, group, "some"))?.count, 22);
      await addSome(1);
      assert.equal(await findIn(database, texts, group, "some"), undefined, "13 texts differ from those indexed");
      await texts.close();
    });
  });
}
