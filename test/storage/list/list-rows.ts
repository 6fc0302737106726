// Pages in every order of every kind of source, with and without filters, compared with a model.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { Collection, ResourceRow } from "../../../src/storage/collection/collection.ts";
import { deleteRow, insertRow } from "../../../src/storage/collection/rows.ts";
import type { Database } from "../../../src/storage/database.ts";
import {
  cursorOf,
  type Filters,
  type ListQuery,
  listRows,
  type Order,
  type Source,
} from "../../../src/storage/list/list-rows.ts";
import {
  bindingRow,
  groupRow,
  groups,
  identities,
  identityRow,
  roleBindings,
  roleRow,
  roles,
  write,
} from "../fixtures.ts";
import { type Forest, forests, insertForest, names, orders, sourcesOf } from "../forest.ts";
import { modelCursor, modelPage, modelRows } from "../listing-model.ts";
import { pageThroughChanges, walks } from "../listing-walk.ts";
import type { OpenStore } from "../stores.ts";

/** Filters of a collection, with values that occur. */
function filtersOf(forest: Forest, kind: string): Filters[] {
  const binding = forest.roleBindings[0];
  if (kind === "groups")
    return [{}, { name: "a b" }, { kind: 1 }, { name: "a", kind: 2 }, { name: names.at(-5)! }, { name: names.at(-1)! }];
  if (kind === "roles" || !binding) return [{}];
  return [{}, { roleUid: binding.roleUid }, { identityUid: binding.identityUid, parent: binding.parent }];
}

/** Compares all pages of a query, pages after a skip, and the total, with the model. */
async function compareWithModel<R extends ResourceRow>(
  database: Database,
  collection: Collection<R>,
  rows: readonly R[],
  query: Pick<ListQuery, "sources" | "filters" | "order">,
): Promise<void> {
  const expected = modelRows(rows, query);
  const said = `${collection.kind} ${JSON.stringify(query)}`;
  const list = async (part: Pick<ListQuery, "after" | "skip" | "limit">) => {
    const read = () => database.lists.page(collection, { ...query, ...part }, () => undefined);
    const { rows, total } = await read();
    assert.equal(total, expected.length, said);
    // A second read comes from the cache.
    assert.deepEqual(await read(), await read(), said);
    return rows;
  };
  const paged: R[] = [];
  // Also fails on pages that never end.
  while (paged.length <= expected.length) {
    const last = paged.at(-1);
    const page = await list({ after: last && cursorOf(last, query.order.field), skip: 0, limit: 4 });
    paged.push(...page);
    if (page.length < 4) break;
  }
  assert.deepEqual(paged, expected, said);
  assert.deepEqual(await list({ after: undefined, skip: 3, limit: 2 }), expected.slice(3, 5), said);
  const second = expected[1];
  if (!second) return;
  const after = modelCursor(second, query.order);
  assert.deepEqual(await list({ after, skip: 1, limit: 2 }), expected.slice(3, 5), said);
}

/** Empties every table, children first. */
async function clear(database: Database, forest: Forest): Promise<void> {
  await write(database, async (tx) => {
    for (const row of forest.roleBindings) await deleteRow(tx, roleBindings, row);
    for (const row of forest.roles) await deleteRow(tx, roles, row);
    for (const row of forest.identities) await deleteRow(tx, identities, row);
    for (const row of forest.groups.toReversed()) await deleteRow(tx, groups, row);
  });
}

/** Declares the tests of lists. */
export function listingConformance(open: OpenStore): void {
  describe("lists", () => {
    it("lists equal the model for every order, kind of source and filter", async () => {
      await using store = await open();
      const { database } = store;
      const property = fc.asyncProperty(forests(24), fc.nat(), async (forest, pick) => {
        await write(database, (tx) => insertForest(tx, forest));
        const compareAll = async <R extends ResourceRow>(collection: Collection<R>, rows: readonly R[]) => {
          for (const sources of Object.values(sourcesOf(forest, rows, pick))) {
            for (const filters of filtersOf(forest, collection.kind)) {
              for (const order of orders)
                await compareWithModel(database, collection, rows, { sources, filters, order });
            }
          }
        };
        try {
          await compareAll(groups, forest.groups);
          await compareAll(roles, forest.roles);
          await compareAll(roleBindings, forest.roleBindings);
        } finally {
          await clear(database, forest);
        }
      });
      await fc.assert(property, { numRuns: 2 });
    });

    it("the pages of a list show no row twice and miss no row that stays, while rows come and go", async () => {
      await using store = await open();
      const { database } = store;
      const property = fc.asyncProperty(forests(16), walks, async (forest, walk) => {
        await write(database, (tx) => insertForest(tx, { ...forest, identities: [], roles: [], roleBindings: [] }));
        const rows = [...forest.groups];
        try {
          const shown = await pageThroughChanges(database, rows, walk);
          assert.equal(new Set(shown).size, shown.length);
          const stayed = forest.groups.filter((row) => rows.includes(row)).map(({ uid }) => uid);
          assert.deepEqual(
            stayed.filter((uid) => !shown.includes(uid)),
            [],
          );
        } finally {
          await clear(database, { groups: rows, identities: [], roles: [], roleBindings: [] });
        }
      });
      await fc.assert(property, { numRuns: 25 });
    });

    it("lists skip as many rows as the model, for any number of sources", async () => {
      await using store = await open();
      const parents = Array.from({ length: 5 }, (_, i) => groupRow(null, `parent ${i}`));
      const rows = [...parents];
      for (let i = 0; i < 400; i++) {
        // Most of them in one group: ranges end at very different offsets.
        const parent = parents[i % 3 === 0 ? i % 5 : 0]!.uid;
        rows.push(groupRow(parent, i, { name: names[i % names.length]!, createTime: i % 7, updateTime: i }));
      }
      await write(store.database, async (tx) => {
        for (const row of rows) await insertRow(tx, groups, row);
      });
      const points = parents.map(({ uid }): Source => ({ type: "row", uid }));
      const ranges = parents.map(({ uid }): Source => ({ type: "subtree", uid }));
      const queries = fc.record({
        order: fc.constantFrom(...orders),
        sources: fc.oneof(
          fc.subarray(ranges),
          fc.subarray(points).map((rows): Source[] => [...rows, ranges[0]!]),
          fc.subarray([...points, ...ranges]),
        ),
        filters: fc.constantFrom<Filters>({}, {}, { name: "ab" }, { kind: 0 }, { kind: 1 }),
        skip: fc.oneof(fc.integer({ min: 0, max: 420 }), fc.constant(2 ** 31 - 1)),
        limit: fc.integer({ min: 1, max: 10 }),
        start: fc.option(fc.nat({ max: 50 })),
      });
      const property = fc.asyncProperty(queries, async ({ start, ...rest }) => {
        const first = start === null ? undefined : modelRows(rows, rest)[start];
        const query: ListQuery = { ...rest, after: first && modelCursor(first, rest.order) };
        const page = await store.database.read((session) => listRows(session, groups, query));
        assert.deepEqual(page, modelPage(rows, query));
      });
      await fc.assert(property, { numRuns: 150 });
    });

    it("lists sort by bytes, regardless of the collation of the database", async () => {
      await using store = await open();
      const root = groupRow(null, "root");
      const wanted = ["a", "a b", "a-b", "a.b", "a0", "a1", "a_b", "ab", "b", "é", "～", "😀"];
      await write(store.database, async (tx) => {
        await insertRow(tx, groups, root);
        for (const name of wanted.toReversed()) await insertRow(tx, groups, groupRow(root.uid, name, { name }));
      });
      const list = async (descending: boolean, sources: Source[]) => {
        const order: Order = { field: "name", descending };
        const query: ListQuery = { sources, filters: {}, order, after: undefined, skip: 0, limit: 50 };
        return (await listRows(store.database.session, groups, query)).map(({ name }) => name);
      };
      const below: Source = { type: "subtree", uid: root.uid };
      assert.deepEqual(await list(false, [below]), wanted);
      assert.deepEqual(await list(true, [below]), wanted.toReversed());
      assert.deepEqual(
        await list(false, [below, { type: "row", uid: root.uid }]),
        [...wanted, root.name].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))),
      );
    });

    it("a uid that continues the last segment of a group's uid is not a descendant of the group", async () => {
      await using store = await open();
      const root = groupRow(null, "root");
      const child = groupRow(root.uid, "child");
      const confusing = [
        groupRow(null, "long root", { uid: `${root.uid}ff` }),
        groupRow(null, "root of the first character behind", { uid: `${root.uid}0` }),
        groupRow(root.uid, "long child", { uid: `${child.uid}ab` }),
      ];
      const below = groupRow(child.uid, "below");
      await write(store.database, async (tx) => {
        for (const row of [root, child, ...confusing, below]) await insertRow(tx, groups, row);
      });
      for (const order of orders) {
        for (const filters of [{}, { kind: 0 }] satisfies Filters[]) {
          const query = { sources: [{ type: "subtree", uid: child.uid }], filters, order } as const;
          await compareWithModel(store.database, groups, [below], query);
          const cut: Source = { type: "subtree", uid: child.uid.slice(0, -2) };
          await compareWithModel(store.database, groups, [], { ...query, sources: [cut] });
          const all = [child, confusing[2]!, below];
          await compareWithModel(store.database, groups, all, {
            ...query,
            sources: [{ type: "subtree", uid: root.uid }],
          });
        }
      }
    });

    it("a list with a filter by parent never shows rows outside of its source", async () => {
      await using store = await open();
      const [own, other] = [groupRow(null, "own"), groupRow(null, "other")];
      const identity = identityRow(null, "identity");
      const role = roleRow(null, "role");
      await write(store.database, async (tx) => {
        for (const row of [own, other]) await insertRow(tx, groups, row);
        await insertRow(tx, identities, identity);
        await insertRow(tx, roles, role);
        await insertRow(tx, roleBindings, bindingRow(other.uid, identity, role));
      });
      for (const order of orders) {
        for (const type of ["children", "subtree"] as const) {
          const query = { sources: [{ type, uid: own.uid }], filters: { parent: other.uid }, order };
          await compareWithModel(store.database, roleBindings, [], query);
        }
      }
    });
  });
}
