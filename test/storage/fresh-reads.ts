// Cached reads on one node while another one writes: no read may miss a write that was acknowledged before it began.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setImmediate as immediate, setTimeout } from "node:timers/promises";
import { insertRow, updateRow } from "../../src/storage/collection/rows.ts";
import type { Database } from "../../src/storage/database.ts";
import type { ListQuery } from "../../src/storage/list/list-rows.ts";
import { groupRow, groups, write } from "./fixtures.ts";
import type { OpenStore } from "./stores.ts";

const root = groupRow(null, "root");
const child = groupRow(root.uid, "child");

const children: ListQuery = {
  sources: [{ type: "children", uid: root.uid }],
  filters: {},
  condition: undefined,
  order: { field: "uid", descending: false },
  after: undefined,
  skip: 0,
  limit: 10,
};

/** How many versions are written, and how many readers compare them. */
const [versions, readers] = [150, 8];

/** More than twice as long as a commit counts as recent, in milliseconds. */
const unchangedMs = 150;

type Read = (database: Database) => Promise<string | undefined>;

const reads: Readonly<Record<string, Read>> = {
  "a row": async (database) => (await database.rows.find(groups, child.uid))?.description,
  "two rows": async (database) => {
    const rows = await database.rows.findAll(groups, [root.uid, child.uid]);
    return rows.find(({ uid }) => uid === child.uid)?.description;
  },
  "a page": async (database) =>
    (await database.lists.page(groups, children, (_session, rows) => rows)).items[0]?.description,
  "a page, filled with another read": async (database) => {
    const fill = async (session: Parameters<typeof database.rows.findAll>[2]) =>
      await database.rows.findAll(groups, [child.uid], session);
    const { rows, items } = await database.lists.page(groups, children, fill);
    // Both are from one snapshot.
    assert.equal(items[0]?.description, rows[0]?.description);
    return rows[0]?.description;
  },
};

/** Declares the tests of reads that follow writes of another node. */
export function freshReadsConformance(open: OpenStore): void {
  describe("reads that begin after an acknowledged write of another node", () => {
    for (const [what, read] of Object.entries(reads)) {
      it(`see it: ${what}`, async () => {
        await using store = await open();
        const writer = await store.open();
        await write(writer, (tx) => insertRow(tx, groups, root));
        await write(writer, (tx) => insertRow(tx, groups, { ...child, description: "0" }));
        let acknowledged = 0;
        let isDone = false;
        let missed = 0;
        const reading = Array.from({ length: readers }, async () => {
          while (!isDone) {
            const before = acknowledged;
            if (Number(await read(store.database)) < before) missed++;
            await immediate();
          }
        });
        let row = { ...child, description: "0" };
        for (let version = 1; version <= versions; version++) {
          row = await write(writer, (tx) => updateRow(tx, groups, row, { ...row, description: `${version}` }));
          acknowledged = version;
          // Now and then nothing changes, and the reads are cached: shortly after a commit, rows of PostgreSQL are not.
          if (version % 30 === 0) await setTimeout(unchangedMs);
          if (version % 10 === 0) for (let i = 0; i < 5; i++) await read(store.database);
        }
        isDone = true;
        await Promise.all(reading);
        assert.equal(missed, 0);
        assert.ok(store.database.cache.hits > 0, "nothing was cached");
        assert.equal(await read(store.database), `${versions}`);
      });
    }
  });
}
