// How images are numbered, linked to their indexes, and deleted in portions, on both databases.
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { insertRow } from "../../../src/storage/collection/rows.ts";
import { findImageNumbers, markImageGone, openImage, openImages } from "../../../src/storage/images/images.ts";
import { removeGoneImages } from "../../../src/storage/images/removal.ts";
import { storeImageUses } from "../../../src/storage/registry/image-uses.ts";
import { storeImage } from "../../../src/storage/registry/manifests.ts";
import { clearRepo } from "../../../src/storage/registry/repos-and-tags.ts";
import { databases } from "../../harness/databases.ts";
import { stopPostgres } from "../../harness/postgres.ts";
import { groupRow, groups, repoRow, repos, write } from "../fixtures.ts";
import { type Store, storeOpeners } from "../stores.ts";

after(stopPostgres);

const digestOf = (letter: string) => `sha256:${letter.repeat(64)}`;
const [index, amd64, arm64] = [digestOf("a"), digestOf("b"), digestOf("c")] as const;

/** Returns a store with a repo that has an index of two manifests. */
async function arrange(database: "sqlite" | "postgres") {
  const store = await storeOpeners[database]();
  const group = groupRow(null, 0);
  const repo = repoRow(group.uid, 1);
  await write(store.database, async (tx) => {
    await insertRow(tx, groups, group);
    await insertRow(tx, repos, repo);
    const platforms = ["amd64", "arm64"].map((architecture) => ({ architecture, size: 1 }));
    await storeImage(tx, repo.uid, index, { platforms, children: [arm64, amd64] });
  });
  return { store, repoUid: repo.uid, [Symbol.asyncDispose]: () => store[Symbol.asyncDispose]() };
}

async function countOf({ tamper }: Store, table: string): Promise<number> {
  return Number((await tamper(`SELECT count(*) AS rows FROM ${table}`))[0]?.rows);
}

const sweepAll = async ({ database }: Store, batchSize: number) => {
  let runs = 1;
  while (!(await write(database, (tx) => removeGoneImages(tx, batchSize)))) runs++;
  return runs;
};

for (const database of databases) {
  describe(`images on ${database}`, () => {
    it("an image has one number, also for concurrent transactions", async () => {
      await using at = await arrange(database);
      const digest = digestOf("d");
      const open = () => write(at.store.database, (tx) => openImage(tx, at.repoUid, digest));
      const numbers = await Promise.all(Array.from({ length: 8 }, open));
      assert.equal(new Set(numbers).size, 1);
      const found = await findImageNumbers(at.store.database.session, at.repoUid, [digest, digestOf("e")]);
      assert.deepEqual([...found], [[digest, numbers[0]]]);
    });

    it("an index is linked to its manifests once, however often it is stored", async () => {
      await using at = await arrange(database);
      const { session } = at.store.database;
      const link = { platforms: [], children: [amd64, arm64] };
      await write(at.store.database, (tx) => storeImage(tx, at.repoUid, index, link));
      const numbers = await findImageNumbers(session, at.repoUid, [index, amd64, arm64]);
      const links = await at.store.tamper("SELECT parent, child FROM image_children ORDER BY child");
      assert.deepEqual(
        links.map(({ parent, child }) => [Number(parent), Number(child)]),
        [amd64, arm64].map((child) => [numbers.get(index), numbers.get(child)]),
      );
    });

    it("a deleted image is unknown at once, and the sweeper deletes its rows in portions", async () => {
      await using at = await arrange(database);
      const { store, repoUid } = at;
      const no = (await findImageNumbers(store.database.session, repoUid, [index])).get(index);
      await write(store.database, (tx) => markImageGone(tx, repoUid, index));
      assert.equal((await findImageNumbers(store.database.session, repoUid, [index])).size, 0);
      const uses = Array.from({ length: 5 }, (_, hour) => `(${no}, ${hour}, 'someone', 0, 1)`);
      await store.tamper(`INSERT INTO image_uses (image, hour, actor, kind, count) VALUES ${uses.join(", ")}`);
      assert.equal(await sweepAll(store, 2), 3);
      for (const [table, rows] of [
        ["image_uses", 0],
        ["image_children", 0],
        ["images", 2],
      ] as const)
        assert.equal(await countOf(store, table), rows, table);
    });

    it("an image that is pushed again before the sweep stays", async () => {
      await using at = await arrange(database);
      await write(at.store.database, (tx) => markImageGone(tx, at.repoUid, index));
      await write(at.store.database, (tx) => openImages(tx, at.repoUid, [index]));
      assert.equal(await sweepAll(at.store, 200), 1);
      assert.equal(await countOf(at.store, "images"), 3);
    });

    it("concurrent transactions add their uses, in any order", async () => {
      await using at = await arrange(database);
      const digests = [index, amd64, arm64, digestOf("d"), digestOf("e")];
      const use = { repoUid: at.repoUid, tag: "", hour: 1, actor: "", kind: 0, count: 1 };
      const rounds = Array.from({ length: 20 }, (_, i) => (i % 2 === 0 ? digests : digests.toReversed()));
      await Promise.all(
        rounds.map((some) =>
          write(at.store.database, async (tx) => {
            await storeImageUses(
              tx,
              some.map((digest) => ({ ...use, digest })),
            );
          }),
        ),
      );
      const rows = await at.store.tamper("SELECT count FROM image_uses");
      assert.deepEqual(
        rows.map(({ count }) => Number(count)),
        digests.map(() => 20),
      );
    });

    it("a deleted repo leaves no images", async () => {
      await using at = await arrange(database);
      await write(at.store.database, (tx) => clearRepo(tx, at.repoUid));
      await sweepAll(at.store, 200);
      for (const table of ["images", "image_children"]) assert.equal(await countOf(at.store, table), 0, table);
    });
  });
}
