// Searches of advisories: what trying every text would find, whether the texts are read or in memory, on both databases.
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { create } from "@bufbuild/protobuf";
import fc from "fast-check";
import { AdvisorySchema } from "../../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";
import { groupCollection } from "../../src/services/iam/rows.ts";
import { deleteState, lockAdvisory, replaceState } from "../../src/services/vulnerabilities/advisory-state.ts";
import { insertAdvisory } from "../../src/services/vulnerabilities/insert-advisory.ts";
import { type AdvisoryRow, advisoryCollection } from "../../src/services/vulnerabilities/rows.ts";
import { type AdvisoryFilter, advisoryCondition } from "../../src/storage/advisories.ts";
import { termFilters } from "../../src/storage/advisory-terms.ts";
import { latestOfKind } from "../../src/storage/changes.ts";
import { findRow, insertRow } from "../../src/storage/collection.ts";
import type { Database } from "../../src/storage/database.ts";
import { type FindingMemory, newFindingMemory } from "../../src/storage/finder.ts";
import { countRows, listRows, planRows, type Source } from "../../src/storage/listing.ts";
import type { RangeSource } from "../../src/storage/range.ts";
import type { Session, Transaction } from "../../src/storage/session.ts";
import { createTextMemory, type TextLimits } from "../../src/storage/text-memory.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { groupRow, write } from "../storage/fixtures.ts";
import { orders } from "../storage/forest.ts";
import { modelCursor, modelPage, modelRows } from "../storage/listing-model.ts";
import { openPostgresStore, openSqliteStore } from "../storage/stores.ts";

after(stopPostgres);

const limits: TextLimits = { few: 0, rows: 1000, bytes: 2 ** 24, readings: 0, changes: 12 };
const noFilter = Object.fromEntries([...Object.keys(termFilters), "excludeEventAuthors"].map((name) => [name, []]));
const filterOf = (query: string) => ({ ...noFilter, query: query.toLowerCase() }) as unknown as AdvisoryFilter;

/** Letters whose small forms are longer, several, or depend on what follows; wildcards; a line feed. */
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
      fc.constantFrom("e", "-2", "a\nb", "σ", "ς"),
    ),
    place: fc.constantFrom("subtree", "children", "both"),
    order: fc.constantFrom(...orders),
    start: fc.option(fc.nat({ max: 20 })),
    skip: fc.nat({ max: 3 }),
    limit: fc.integer({ min: 1, max: 9 }),
    isKept: fc.boolean(),
  }),
  { minLength: 1, maxLength: 8 },
);
type Content = typeof content extends fc.Arbitrary<infer C> ? C : never;
type Question = typeof questions extends fc.Arbitrary<(infer Q)[]> ? Q : never;

/** What a search means. */
function matches({ artifactName, componentName, aliases }: AdvisoryRow, query: string): boolean {
  return [artifactName, componentName, ...aliases].join("\n").toLowerCase().includes(query.toLowerCase());
}

for (const [name, open] of [["SQLite", openSqliteStore] as const, ["PostgreSQL", openPostgresStore] as const]) {
  describe(`searches of advisories on ${name}`, () => {
    it("find what trying every text would find, while advisories come, change and go", async () => {
      await using store = await open();
      const other = await store.open();
      const groups = await plantGroups(store.database);
      const property = fc.asyncProperty(
        fc.array(fc.record({ edits, questions }), { minLength: 1, maxLength: 4 }),
        async (turns) => {
          const memory = memoryOf(store.database);
          const rows: AdvisoryRow[] = [];
          for (const turn of turns) {
            // Another node writes: only the change log tells of it.
            for (const edit of turn.edits) await write(other, (tx) => apply(tx, groups, rows, edit));
            for (const question of turn.questions) await ask(store.database, memory, groups, rows, question);
          }
          await memory.texts.close();
          for (const { uid } of rows) await write(other, (tx) => removeAdvisory(tx, uid));
        },
      );
      await fc.assert(property, { numRuns: 25 });
    });

    it("are right while their texts are being indexed", async () => {
      await using store = await open();
      const { database } = store;
      const [group] = await plantGroups(database);
      for (let i = 0; i < 1200; i += 400)
        await write(database, async (tx) => {
          for (let at = i; at < i + 400; at++) await addAdvisory(tx, group, { artifactName: `old ${at}` });
        });
      let added = 0;
      const texts = createTextMemory(
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
        const texts = createTextMemory((body) => database.read(body), { ...limits, ...changed });
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

function memoryOf(database: Database): FindingMemory {
  return newFindingMemory(createTextMemory((body) => database.read(body), limits));
}

/** A group with one below it. */
async function plantGroups(database: Database): Promise<readonly [above: string, below: string]> {
  const above = groupRow(null, "above");
  const below = groupRow(above.uid, "below");
  await write(database, async (tx) => {
    for (const group of [above, below]) await insertRow(tx, groupCollection, { ...group, kind: 0, status: 0 } as never);
  });
  return [above.uid, below.uid];
}

async function addAdvisory(tx: Transaction, parent: string, init: Partial<Content>): Promise<string> {
  return await insertAdvisory(tx, parent, create(AdvisorySchema, { ...init, advisoryId: crypto.randomUUID() }));
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
  memory: FindingMemory,
  [above, below]: readonly [string, string],
  rows: readonly AdvisoryRow[],
  { query, place, order, start, skip, limit, isKept }: Question,
): Promise<void> {
  const sources: Source[] =
    place === "both"
      ? [
          { type: "subtree", uid: below },
          { type: "children", uid: above },
        ]
      : [{ type: place as "subtree", uid: above }];
  const passing = rows.filter((row) => matches(row, query));
  const first = start === null ? undefined : modelRows(passing, { sources, filters: {}, order })[start];
  const listing = {
    ...{ sources, filters: {}, order, skip, limit },
    after: first && modelCursor(first, order),
    condition: advisoryCondition(filterOf(query)),
  };
  if (isKept) {
    await database.read((session) => planRows(session, memory, advisoryCollection, listing));
    await memory.texts.idle();
    memory.found.clear();
  }
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

/** What is found in memory alone, below a group. */
async function findIn(database: Database, texts: FindingMemory["texts"], group: string, query: string) {
  const source: RangeSource = { type: "subtree", uid: group };
  const [finder] = advisoryCondition(filterOf(query))!.finders!;
  return await database.read(async (session: Session) =>
    texts.find(
      ...([
        session,
        advisoryCollection,
        source,
        finder!.text!,
        await latestOfKind(session, "advisories"),
        1000,
      ] as const),
    ),
  );
}
