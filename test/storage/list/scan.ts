// Pages of a scan over several subtrees.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { rangeBelow } from "../../../src/model/uid.ts";
import { insertRow } from "../../../src/storage/collection/rows.ts";
import { type Scan, scanRows } from "../../../src/storage/list/scan.ts";
import { tagCondition } from "../../../src/storage/registry/repos-and-tags.ts";
import { groupRow, groups, repoRow, repos, tagRow, tags, write } from "../fixtures.ts";
import type { OpenStore } from "../stores.ts";

const scan: Scan = {
  kind: "tags",
  table: (tables) => tables.tags,
  uid: (tables) => tables.tags.uid,
  condition: tagCondition({
    includeReferrers: false,
    includeDates: true,
    includeEpochs: true,
    updatedSince: undefined,
  })!,
};

/** Declares the tests of scans. */
export function scansConformance(open: OpenStore): void {
  describe("scans", () => {
    it("a page of a scan over several subtrees has as many rows as asked for, and the next begins after them", async () => {
      await using store = await open();
      const group = groupRow(null, "group");
      const scanned = ["a", "b", "c"].map((seed) => repoRow(group.uid, seed)).sort((a, b) => (a.uid < b.uid ? -1 : 1));
      const rows = scanned.flatMap(({ uid }) =>
        Array.from({ length: 4 }, (_, i) => tagRow(uid, i, { isReferrer: i % 2 === 0 })),
      );
      await write(store.database, async (tx) => {
        await insertRow(tx, groups, group);
        for (const repo of scanned) await insertRow(tx, repos, repo);
        for (const row of rows) await insertRow(tx, tags, row);
      });
      const matching = rows.filter(({ isReferrer }) => !isReferrer).map(({ uid }) => uid);
      matching.sort();
      const ranges = scanned.map(({ uid }) => rangeBelow(uid));
      const { session } = store.database;
      for (let limit = 1; limit <= matching.length + 1; limit++)
        for (let skip = 0; skip <= matching.length; skip++) {
          const after = matching[skip - 1] ?? "";
          const wanted = matching.slice(skip, skip + limit);
          assert.deepEqual(await scanRows(session, scan, ranges, { after, skip: 0, limit }), wanted);
          assert.deepEqual(await scanRows(session, scan, ranges, { after: "", skip, limit }), wanted);
        }
    });
  });
}
