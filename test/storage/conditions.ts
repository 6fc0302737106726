// Pages under a condition: every order and kind of source is compared with the model, with small and large offsets.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { insertRow } from "../../src/storage/collection/rows.ts";
import { countRows, type ListQuery, listRows, type Source } from "../../src/storage/list/list-rows.ts";
import { type TagFilter, tagCondition } from "../../src/storage/registry/repos-and-tags.ts";
import { groupRow, groups, repoRow, repos, type TagRow, tagRow, tags, write } from "./fixtures.ts";
import { orders } from "./forest.ts";
import { modelCursor, modelPage, modelRows } from "./listing-model.ts";
import type { OpenStore } from "./stores.ts";

const filters = fc.record({
  includeReferrers: fc.boolean(),
  includeDates: fc.boolean(),
  includeEpochs: fc.boolean(),
  updatedSince: fc.option(fc.integer({ min: 0, max: 6 }), { nil: undefined }),
});

/** Returns the meaning of the condition, for the model. */
function passes(row: TagRow, filter: TagFilter): boolean {
  if (row.isReferrer && !filter.includeReferrers) return false;
  if (row.isDate && !filter.includeDates) return false;
  if (row.isEpoch && !filter.includeEpochs) return false;
  return filter.updatedSince === undefined || row.updateTime > filter.updatedSince;
}

/** Declares the tests of conditions. */
export function conditionsConformance(open: OpenStore): void {
  describe("lists under a condition", () => {
    it("equal the model for every order, kind of source, filter, cursor and skip", async () => {
      await using store = await open();
      const { database } = store;
      const group = groupRow(null, "group");
      const repoRows = [repoRow(group.uid, "a"), repoRow(group.uid, "b")];
      const rows = Array.from({ length: 300 }, (_, i) => {
        const kind = { isReferrer: i % 11 === 0, isDate: i % 3 === 0, isEpoch: i % 2 === 0 };
        const times = { createTime: i % 5, updateTime: i % 7 };
        // Most of them in one repo; equal names in both.
        const repo = repoRows[i % 4 === 0 ? 1 : 0]!;
        return tagRow(repo.uid, i, {
          name: `tag ${Math.floor(i / 4)} ${i % 4}`,
          digest: `${i % 3}`,
          ...kind,
          ...times,
        });
      });
      await write(database, async (tx) => {
        await insertRow(tx, groups, group);
        for (const repo of repoRows) await insertRow(tx, repos, repo);
        for (const row of rows) await insertRow(tx, tags, row);
      });
      const [a, b] = repoRows.map(({ uid }) => uid) as [string, string];
      const points = rows.slice(0, 5).map(({ uid }): Source => ({ type: "row", uid }));
      const queries = fc.record({
        order: fc.constantFrom(...orders),
        sources: fc.constantFrom<Source[]>(
          [{ type: "subtree", uid: group.uid }],
          [{ type: "children", uid: a }],
          [
            { type: "subtree", uid: a },
            { type: "subtree", uid: b },
          ],
          points,
          [],
        ),
        filters: fc.constantFrom({}, { digest: "1" }, { name: "tag 3 1" }),
        filter: filters,
        skip: fc.integer({ min: 0, max: 320 }),
        limit: fc.integer({ min: 1, max: 20 }),
        start: fc.option(fc.nat({ max: 50 })),
      });
      const property = fc.asyncProperty(queries, async ({ filter, start, ...rest }) => {
        const passing = rows.filter((row) => passes(row, filter));
        const first = start === null ? undefined : modelRows(passing, rest)[start];
        const after = first && modelCursor(first, rest.order);
        const query: ListQuery = { ...rest, after, condition: tagCondition(filter) };
        const [page, total] = await database.read(async (session) => [
          await listRows(session, tags, query),
          await countRows(session, tags, query),
        ]);
        assert.deepEqual(page, modelPage(passing, query));
        assert.equal(total, modelRows(passing, query).length);
      });
      await fc.assert(property, { numRuns: 150 });
    });
  });
}
