// Cached pages and rows equal the model after all kinds of changes.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { newPageCache, type PageCache } from "../../src/storage/cache/page-cache.ts";
import { newReadCache, type ReadCacheLimits } from "../../src/storage/cache/read-cache.ts";
import { newRowCache, type RowCache } from "../../src/storage/cache/row-cache.ts";
import { lastChange } from "../../src/storage/change-log/change-log.ts";
import { insertRow, updateRow } from "../../src/storage/collection/rows.ts";
import type { Database } from "../../src/storage/database.ts";
import type { Session } from "../../src/storage/engine/session.ts";
import type { ListQuery, Source } from "../../src/storage/list/list-rows.ts";
import { newOffsetIndex } from "../../src/storage/list/offset-index.ts";
import { newFilterResultCache } from "../../src/storage/list/range-plan.ts";
import { newTextSearch } from "../../src/storage/search/text-search.ts";
import { apply, beforeFirst, edits, forgetChanges, plant, remainders, uproot } from "./edits.ts";
import { type GroupRow, groupRow, groups, write } from "./fixtures.ts";
import { names, orders } from "./forest.ts";
import { modelCursor, modelRows } from "./listing-model.ts";
import type { OpenStore } from "./stores.ts";

/** Limits above what a test reads. */
export const limits: ReadCacheLimits = {
  maxBytes: 2 ** 20,
  maxEntryBytes: 2 ** 18,
  maxKeyLength: 1000,
  recentReads: 100,
  maxAgeMs: 60_000,
  maxChanges: 100,
  maxKeys: 1000,
  // Rows are cached even shortly after a commit.
  recentMs: 0,
};

/** Limits so low that most entries are soon evicted. */
const few: ReadCacheLimits = {
  ...limits,
  maxBytes: 30_000,
  maxEntryBytes: 10_000,
  maxKeyLength: 300,
  recentReads: 5,
  maxChanges: 6,
  maxKeys: 12,
};

const questions = fc.array(
  fc.record({
    order: fc.constantFrom(...orders),
    place: fc.constantFrom("subtree", "children", "group and subtree", "roots"),
    group: fc.nat({ max: 3 }),
    name: fc.option(fc.constantFrom(...names)),
    after: fc.option(fc.nat({ max: 10 })),
    skip: fc.nat({ max: 2 }),
    limit: fc.constantFrom(1, 5, 100),
  }),
  { minLength: 1, maxLength: 8 },
);

const turns = fc.array(fc.record({ edits, left: remainders, questions }), { minLength: 1, maxLength: 5 });

/** All rows, in the first order. */
export const whole = { filters: {}, order: orders[0]!, after: undefined, skip: 0, limit: 10 };

/** Declares the tests of cached rows and pages. */
export function cachedReadsConformance(open: OpenStore): void {
  describe("cached rows and pages", () => {
    for (const [name, size] of [
      ["pages are those of the model, while rows come, go and move", limits],
      ["pages equal the model with limits that cache hardly any", few],
    ] as const) {
      it(name, async () => {
        await using store = await open();
        const { database } = store;
        const other = await store.open();
        const property = fc.asyncProperty(turns, async (all) => {
          const rows = await plant(database);
          const pages = newEmptyPageCache(database, size);
          try {
            for (const turn of all) {
              // Another node writes: only the change log shows it.
              for (const edit of turn.edits) await write(other, (tx) => apply(tx, rows, edit));
              await forgetChanges(other, turn.left);
              for (const question of turn.questions) await ask(database, pages, rows, question);
            }
          } finally {
            await uproot(database, rows);
          }
        });
        await fc.assert(property, { numRuns: 15 });
      });
    }

    it("rows equal the model, while rows come, go and move", async () => {
      await using store = await open();
      const { database } = store;
      const other = await store.open();
      const property = fc.asyncProperty(
        fc.array(fc.record({ edits, left: remainders }), { maxLength: 4 }),
        async (turns) => {
          const rows = await plant(database);
          const cached = newRowCache(newReadCache(limits), database.session);
          try {
            await compareRows(cached, rows);
            for (const turn of turns) {
              for (const edit of turn.edits) await write(other, (tx) => apply(tx, rows, edit));
              await forgetChanges(other, turn.left);
              await compareRows(cached, rows);
            }
          } finally {
            await uproot(database, rows);
          }
        },
      );
      await fc.assert(property, { numRuns: 10 });
    });

    it("pages are the same list until something changes in their ranges", async () => {
      await using store = await open();
      const { database } = store;
      const rows = await plant(database);
      const pages = newEmptyPageCache(database, limits);
      const [here, there] = [rows[0]!, rows[1]!];
      const list = await readTwice(database, pages, here);
      const other = await readTwice(database, pages, there);
      assert.ok(Object.isFrozen(list));
      await write(database, (tx) => insertRow(tx, groups, groupRow(here.uid, "new")));
      assert.ok((await read(database, pages, there)) === other);
      const now = await readTwice(database, pages, here);
      assert.equal(now.length, list.length + 1);
      assert.ok((await read(database, pages, here)) === now);
      await write(database, (tx) => updateRow(tx, groups, here, { ...here, description: "of the group itself" }));
      const [row] = (await readPage(database, pages, [{ type: "row", uid: here.uid }])).rows;
      assert.equal((row as GroupRow).description, "of the group itself");
    });

    it("pages are not cached if the tracker passed a change while they were read", async () => {
      await using store = await open();
      const { database } = store;
      const other = await store.open();
      const [group] = await plant(database);
      const pages = newEmptyPageCache(database, limits);
      const sources: Source[] = [{ type: "subtree", uid: group!.uid }];
      const before = await readPage(database, pages, sources);
      /** Another connection writes, and advances the tracker in a later snapshot. */
      const moveOn = async () => {
        await write(other, (tx) => insertRow(tx, groups, groupRow(group!.uid, "meanwhile")));
        await readPage(other, pages, [{ type: "children", uid: group!.uid }]);
      };
      const query: ListQuery = { ...whole, limit: 100, sources };
      await database.read((session) => pages.read(beforeFirst(session, "page", moveOn), groups, query));
      assert.equal((await readPage(database, pages, sources)).total, before.total + 1);
    });

    for (const [noted, changes] of [
      ["single places", 100],
      ["everything", 3],
    ] as const) {
      it(`pages are read again also after a slow session has recorded earlier changes of ${noted}`, async () => {
        await using store = await open();
        const { database } = store;
        const other = await store.open();
        const [group] = await plant(database);
        const pages = newEmptyPageCache(database, { ...limits, maxChanges: changes });
        const query: ListQuery = { ...whole, sources: [{ type: "subtree", uid: group!.uid }] };
        const ask = (on: Database, prepare = (session: Session) => session) =>
          on.read(async (session) => {
            // PostgreSQL takes the snapshot of a transaction with its first statement.
            await lastChange(session);
            return await pages.read(prepare(ofItself(session)), groups, query);
          });
        const add = (names: readonly string[]) =>
          write(other, async (tx) => {
            for (const name of names) await insertRow(tx, groups, groupRow(group!.uid, name));
          });
        const { total } = await ask(other);
        await add(["a", "b", "c", "d"]);
        const [begun, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
        const wait = () => {
          begun.resolve();
          return released.promise;
        };
        const slow = ask(database, (session) => beforeFirst(session, "of_kind.uid", wait));
        await begun.promise;
        await add(["e", "f", "g", "h"]);
        for (let i = 0; i < 2; i++) assert.equal((await ask(other)).total, total + 8);
        await add(["i"]);
        // The tracker reads up to the last change, without a read of the page.
        const elsewhere: ListQuery = { ...query, sources: [{ type: "children", uid: group!.uid }] };
        await other.read((session) => pages.read(ofItself(session), groups, elsewhere));
        released.resolve();
        assert.equal((await slow).total, total + 4);
        assert.equal((await ask(other)).total, total + 9);
      });
    }

    it("cached pages expire, so manual changes appear", async () => {
      await using store = await open();
      const { database } = store;
      const [group] = await plant(database);
      const pages = newEmptyPageCache(database, { ...limits, maxAgeMs: 1 });
      await readTwice(database, pages, group!);
      await store.tamper(`UPDATE groups SET description = 'by hand'`);
      await new Promise((resolve) => setTimeout(resolve, 5));
      for (const row of await read(database, pages, group!)) assert.equal(row.description, "by hand");
    });
  });
}

/** Reads every row, and one that does not exist, several times. */
async function compareRows(find: RowCache, rows: readonly GroupRow[]): Promise<void> {
  const gone = groupRow(rows[0]!.uid, "not there").uid;
  for (let i = 0; i < 3; i++) {
    for (const row of rows) assert.deepEqual(await find.find(groups, row.uid), row);
    assert.equal(await find.find(groups, gone), undefined);
  }
  const [first] = rows;
  assert.ok(Object.isFrozen(await find.find(groups, first!.uid)), "not cached");
}

/** Creates an empty page cache. */
export function newEmptyPageCache(database: Database, size: ReadCacheLimits): PageCache {
  const findings = newFilterResultCache(newTextSearch(database.session));
  return newPageCache(newReadCache(size), newOffsetIndex(database.read), findings);
}

/** Returns the first page of groups. */
export async function readPage(database: Database, pages: PageCache, sources: readonly Source[]) {
  const query: ListQuery = { ...whole, limit: 100, sources };
  return await database.read((session) => pages.read(session, groups, query));
}

/** Returns a session without a data version, as on PostgreSQL. */
export function ofItself({ dataVersion: _shared, ...session }: Session): Session {
  return session;
}

/** Returns the descendants of a group. */
export async function read(database: Database, pages: PageCache, { uid }: GroupRow): Promise<readonly GroupRow[]> {
  return (await readPage(database, pages, [{ type: "subtree", uid }])).rows;
}

/** The same, read twice to cache it. */
export async function readTwice(database: Database, pages: PageCache, group: GroupRow): Promise<readonly GroupRow[]> {
  await read(database, pages, group);
  return await read(database, pages, group);
}

type Question = typeof questions extends fc.Arbitrary<(infer Q)[]> ? Q : never;

async function ask(
  database: Database,
  pages: PageCache,
  rows: readonly GroupRow[],
  { order, place, group, name, after, skip, limit }: Question,
): Promise<void> {
  const sources = sourcesOf(place, rows[group]!.uid);
  const filters = name === null ? {} : { name };
  const all = modelRows(rows, { sources, filters, order });
  const first = after === null ? undefined : all[after];
  const query: ListQuery = { sources, filters, order, after: first && modelCursor(first, order), skip, limit };
  const left = all.slice((first ? all.indexOf(first) + 1 : 0) + skip);
  const expected = { rows: left.slice(0, limit), hasMore: left.length > limit, total: all.length };
  for (let i = 0; i < 3; i++) {
    const page = await database.read((session) => pages.read(session, groups, query));
    assert.deepEqual(page, expected, JSON.stringify({ query, i }));
  }
}

function sourcesOf(place: Question["place"], uid: string): Source[] {
  if (place === "roots") return [{ type: "children", uid: null }];
  if (place === "subtree" || place === "children") return [{ type: place, uid }];
  return [
    { type: "row", uid },
    { type: "subtree", uid },
  ];
}
