// Searches of advisories find what trying every text would find, with and without the index, on both databases.
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import fc from "fast-check";
import {
  deleteState,
  lockAdvisory,
  replaceState,
} from "../../../../src/services/vulnerabilities/advisories/advisory-state.ts";
import { findRow } from "../../../../src/storage/collection/rows.ts";
import type { Database } from "../../../../src/storage/database.ts";
import type { Transaction } from "../../../../src/storage/engine/session.ts";
import { countRows, listRows, planRows, type Source } from "../../../../src/storage/list/list-rows.ts";
import { type FilterResultCache, newFilterResultCache } from "../../../../src/storage/list/range-plan.ts";
import { newTextSearch } from "../../../../src/storage/search/text-search.ts";
import { advisoryCondition } from "../../../../src/storage/vulnerabilities/advisories.ts";
import { type AdvisoryRow, advisoryCollection } from "../../../../src/storage/vulnerabilities/rows.ts";
import { databases } from "../../../harness/databases.ts";
import { stopPostgres } from "../../../harness/postgres.ts";
import { casesOf } from "../../../harness/quick.ts";
import { forgetChanges, remainders } from "../../../storage/edits.ts";
import { write } from "../../../storage/fixtures.ts";
import { orders } from "../../../storage/forest.ts";
import { modelCursor, modelPage, modelRows } from "../../../storage/listing-model.ts";
import { storeOpeners } from "../../../storage/stores.ts";
import { addAdvisory, filterOf, plantGroups } from "../search-fixtures.ts";

after(stopPostgres);

/** Letters whose small forms are longer, several, or depend on what follows; wildcards; operators of FTS5; a line feed. */
const parts = [
  "a",
  "B",
  "cve-",
  "CVE-2026-1",
  "lib",
  "%",
  "_",
  "\\",
  "'",
  '"',
  "İ",
  "ı",
  "ß",
  "e\u0301",
  "\u0301",
  " AND ",
  "NEAR(",
  "*",
  "text:",
  "ΑΣ",
  "ẞ",
  "K",
  "界",
  "😀",
  "\n",
  " ",
];
const words = fc.array(fc.constantFrom(...parts), { maxLength: 4 }).map((chosen) => chosen.join(""));
const content = fc.record({
  artifactName: words,
  componentName: words,
  aliases: fc.uniqueArray(words, { maxLength: 3 }),
});
const edits = fc.array(fc.record({ what: fc.constantFrom("insert", "replace", "delete"), at: fc.nat(), content }), {
  maxLength: 14,
});
const questions = fc.array(
  fc.record({
    query: fc.oneof(
      words.filter((text) => text !== ""),
      fc.constantFrom("e", "-2", "a\nb", "σ", "ς", "i\u0307", "ss", "lib", "cve"),
    ),
    place: fc.constantFrom("subtree", "children", "both"),
    order: fc.constantFrom(...orders),
    start: fc.option(fc.nat({ max: 20 })),
    skip: fc.nat({ max: 3 }),
    limit: fc.integer({ min: 1, max: 9 }),
    usesIndex: fc.boolean(),
  }),
  { minLength: 1, maxLength: 8 },
);
type Content = typeof content extends fc.Arbitrary<infer C> ? C : never;
type Question = typeof questions extends fc.Arbitrary<(infer Q)[]> ? Q : never;

/** Returns whether an advisory matches a search. */
function matches({ artifactName, componentName, aliases }: AdvisoryRow, query: string): boolean {
  return [artifactName, componentName, ...aliases].join("\n").toLowerCase().includes(query.toLowerCase());
}

for (const database of databases) {
  const open = storeOpeners[database];
  describe(`searches of advisories on ${database}`, () => {
    it("find what a scan of all texts finds, while advisories are created, changed and deleted", async () => {
      await using store = await open();
      const other = await store.open();
      const groups = await plantGroups(store.database);
      const property = fc.asyncProperty(
        fc.array(fc.record({ edits, left: remainders, questions }), { minLength: 1, maxLength: 4 }),
        async (turns) => {
          const rows: AdvisoryRow[] = [];
          for (const turn of turns) {
            // Another node writes: only the change log tells of it.
            for (const edit of turn.edits) await write(other, (tx) => apply(tx, groups, rows, edit));
            await forgetChanges(other, turn.left);
            for (const question of turn.questions) await ask(store.database, groups, rows, question);
          }
          for (const { uid } of rows) await write(other, (tx) => removeAdvisory(tx, uid));
        },
      );
      await fc.assert(property, { numRuns: casesOf(8, 25) });
    });

    it("a page of a search with another filter is filled from all that the search found, not from the first ones alone", async () => {
      await using store = await open();
      const [group] = await plantGroups(store.database);
      const uids: string[] = [];
      await write(store.database, async (tx) => {
        for (const author of ["robot", "robot", "robot", "ana"])
          uids.push(await addAdvisory(tx, group, { artifactName: "libxml2", events: [{ author }] }));
      });
      const condition = advisoryCondition({ ...filterOf("libxml"), excludeEventAuthors: ["robot"] });
      const memory = memoryOf(store.database, true);
      const query = {
        sources: [{ type: "subtree", uid: group } as const],
        filters: {},
        order: { field: "uid", descending: false } as const,
        after: undefined,
        skip: 0,
        limit: 1,
        condition,
      };
      const page = await store.database.read(async (session) => {
        const plans = await planRows(session, memory, advisoryCollection, query);
        return await listRows(session, advisoryCollection, { ...query, plans });
      });
      assert.deepEqual(
        page.map(({ uid }) => uid),
        uids.slice(-1),
      );
    });
  });
}

/** One that remembers nothing yet, and searches by the index, or reads all texts. */
function memoryOf({ session }: Database, usesIndex: boolean): FilterResultCache {
  return newFilterResultCache(newTextSearch(session, { fewTexts: usesIndex ? 0 : 1000, sampleSize: 4 }));
}

async function removeAdvisory(tx: Transaction, uid: string): Promise<void> {
  await deleteState(tx, await lockAdvisory(tx, uid), 1);
}

async function apply(
  tx: Transaction,
  groups: readonly string[],
  rows: AdvisoryRow[],
  { what, at, content: init }: { what: string; at: number; content: Content },
): Promise<void> {
  const row = rows[at % rows.length];
  if (what === "insert" || !row) {
    const uid = await addAdvisory(tx, groups[at % groups.length]!, init);
    rows.push((await findRow(tx, advisoryCollection, uid))!);
  } else if (what === "replace") {
    const state = await lockAdvisory(tx, row.uid);
    const replaced = await replaceState(tx, state, { ...state, row: { ...state.row, ...init } });
    rows[rows.indexOf(row)] = replaced.row;
  } else {
    await removeAdvisory(tx, row.uid);
    rows.splice(rows.indexOf(row), 1);
  }
}

async function ask(
  database: Database,
  [above, below]: readonly string[],
  rows: readonly AdvisoryRow[],
  { query, place, order, start, skip, limit, usesIndex }: Question,
): Promise<void> {
  const sources: Source[] =
    place === "both"
      ? [
          { type: "subtree", uid: below! },
          { type: "children", uid: above! },
        ]
      : [{ type: place as "subtree", uid: above! }];
  const passing = rows.filter((row) => matches(row, query));
  const first = start === null ? undefined : modelRows(passing, { sources, filters: {}, order })[start];
  const listing = {
    sources,
    filters: {},
    order,
    skip,
    limit,
    after: first && modelCursor(first, order),
    condition: advisoryCondition(filterOf(query)),
  };
  const memory = memoryOf(database, usesIndex);
  const [page, total] = await database.read(async (session) => {
    const plans = await planRows(session, memory, advisoryCollection, listing);
    return [
      await listRows(session, advisoryCollection, { ...listing, plans }),
      await countRows(session, advisoryCollection, { ...listing, plans }),
    ];
  });
  assert.deepEqual(
    page.map(({ uid }) => uid),
    modelPage(passing, listing).map(({ uid }) => uid),
    JSON.stringify(query),
  );
  assert.equal(total, modelRows(passing, listing).length);
}
