// Searches find exactly the texts that contain a term, on both databases, with and without an index.
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { setImmediate as nextTick } from "node:timers/promises";
import pg from "pg";
import { newChild, newRoot } from "../../../src/model/uid.ts";
import { type Database, openDatabase } from "../../../src/storage/database.ts";
import { defaultDatabaseLimits } from "../../../src/storage/engine/dialect.ts";
import type { TextQuery } from "../../../src/storage/list/text-search.ts";
import { rebuildTextIndex, textIndexAgrees } from "../../../src/storage/search/index-check.ts";
import { newTextSearch } from "../../../src/storage/search/text-search.ts";
import { replaceText } from "../../../src/storage/vulnerabilities/advisory-terms.ts";
import { stopPostgres } from "../../harness/postgres.ts";
import { write } from "../fixtures.ts";
import { newPostgresUrl, openPostgresStore, openSqliteStore, type Store } from "../stores.ts";

after(stopPostgres);

/** Pieces of random texts: wildcards, quotes and operators, combining characters, letters of one to four bytes, line feeds. */
const pieces = [
  "cve-2026-",
  "ghsa",
  "lib",
  "a",
  "b",
  "1",
  "2",
  "e",
  "\n",
  " ",
  "-",
  ".",
  "%",
  "_",
  "\\",
  "'",
  '"',
  '""',
  "*",
  "^",
  "(",
  ")",
  ":",
  "+",
  " and ",
  " AND ",
  " NOT ",
  "near(",
  "text:",
  "e\u0301",
  "\u0301",
  "i\u0307",
  "ı",
  "ß",
  "ss",
  "σ",
  "ς",
  "界",
  "😀",
  "👩‍👩‍👧",
  "\u{10ffff}",
];

/** As `Math.random`, but the same in every run. */
function newRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const random = newRandom(28);
const below = (end: number) => Math.floor(random() * end);
const pick = <T>(items: readonly T[]) => items[below(items.length)]!;
const newText = () =>
  Array.from({ length: 1 + below(8) }, () => pick(pieces))
    .join("")
    .toLowerCase();

const [here, there] = [newRoot(), newRoot()];
const group = newChild(here);
const parents = [here, group, there];
/** Three in four are in one organization. */
const texts = new Map(Array.from({ length: 240 }, (_, i) => [newChild(parents[i % 4] ?? here), newText()]));

/** Fills a store, changes some of the texts, and removes others. */
async function fill(database: Database): Promise<Map<string, string>> {
  const now = new Map<string, string>();
  const set = (uids: readonly string[], textOf: (uid: string) => string | undefined) =>
    write(database, async (tx) => {
      for (const uid of uids) {
        const text = textOf(uid);
        await replaceText(tx, uid, text);
        if (text === undefined) now.delete(uid);
        else now.set(uid, text);
      }
    });
  const uids = [...texts.keys()];
  await set(uids, () => newText());
  await set(uids.slice(0, 150), (uid) => texts.get(uid)!);
  await set(uids.slice(100, 120), () => undefined);
  await set(uids.slice(110, 115), () => newText());
  return now;
}

/** Terms that occur, that may occur, and that do not. */
function termsIn(all: readonly string[]): string[] {
  const terms = ["cve", "a\n", "zzz", "-20", "lib".repeat(500)];
  while (terms.length < 250) {
    const text = pick(all);
    const at = below(text.length);
    terms.push(random() < 0.8 ? text.slice(at, at + 1 + below(7)) : newText());
  }
  return terms.filter((term) => term.isWellFormed());
}

/** Searches in many ways, and compares with what trying every text finds. */
async function compare(database: Database, all: ReadonlyMap<string, string>): Promise<void> {
  const inside = (source: TextQuery["source"]) =>
    [...all.keys()].filter((uid) =>
      source.type === "subtree" ? uid.startsWith(`${source.uid}/`) : uid.slice(0, -17) === source.uid,
    );
  const organizationSize = inside({ type: "subtree", uid: here }).length;
  for (const term of termsIn([...all.values()])) {
    const type = pick(["subtree", "children"] as const);
    const source = { type, uid: type === "subtree" && random() < 0.5 ? here : pick([here, group]) };
    const uids = inside(source);
    const expected = uids.filter((uid) => all.get(uid)!.includes(term)).sort();
    const maxUids = pick([0, 3, 1000]);
    const search = newTextSearch(database.session, { fewTexts: pick([0, 1000]), sampleSize: pick([1, 20, 200]) });
    const query = { term, source, size: uids.length, organizationSize };
    const found = await database.read((session) => search.find(session, query, maxUids));
    const isFew = expected.length <= maxUids;
    assert.deepEqual(
      { ...found },
      { count: expected.length, ...(isFew && { uids: expected }) },
      JSON.stringify({ term, source, maxUids }),
    );
  }
}

/** Returns a database where the extension cannot be created, since something has the name of one of its functions. */
async function openWithoutExtension(): Promise<Pick<Store, "database"> & AsyncDisposable> {
  const url = await newPostgresUrl();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query("CREATE FUNCTION set_limit(real) RETURNS real LANGUAGE sql AS 'SELECT $1'");
  const database = await openDatabase(url, defaultDatabaseLimits);
  const { rows } = await client.query("SELECT 1 FROM pg_indexes WHERE indexname = 'advisory_texts_trigrams'");
  await client.end();
  assert.deepEqual(rows, []);
  return { database, [Symbol.asyncDispose]: () => database.close() };
}

for (const [name, open] of [
  ["SQLite", openSqliteStore],
  ["PostgreSQL", openPostgresStore],
  ["PostgreSQL without pg_trgm", openWithoutExtension],
] as const) {
  describe(`searches of texts on ${name}`, () => {
    it("find the texts that contain the term, in the organization that is asked for", async () => {
      await using store = await open();
      await compare(store.database, await fill(store.database));
    });
  });
}

describe("the text index of SQLite", () => {
  it("agrees with the texts, whose numbers are one range for each organization", async () => {
    await using store = await openSqliteStore();
    await fill(store.database);
    await store.tamper("INSERT INTO advisory_text_index (advisory_text_index, rank) VALUES ('integrity-check', 1)");
    const blocks = await store.tamper(
      "SELECT id >> 40 AS block, count(DISTINCT substr(uid, 1, 40)) AS organizations FROM advisory_texts GROUP BY 1 ORDER BY 1",
    );
    assert.deepEqual(blocks, [
      { block: 1, organizations: 1 },
      { block: 2, organizations: 1 },
    ]);
  });
});

describe("the check of the text index of SQLite", () => {
  it("finds that the index differs from the texts, and the repair makes it again", async () => {
    await using store = await openSqliteStore();
    const { database } = store;
    await fill(database);
    await write(database, (tx) => replaceText(tx, newChild(group), "a\uffff\ufffe 😀"));
    const agrees = () => database.read(textIndexAgrees);
    assert.equal(await agrees(), true);
    await store.tamper("INSERT INTO advisory_text_index (rowid, text) VALUES (1, 'of no row')");
    await nextTick();
    assert.equal(await agrees(), false);
    await write(database, rebuildTextIndex);
    assert.equal(await agrees(), true);
  });
});

describe("the text index of PostgreSQL", () => {
  it("finds a rare term, although sessions have no bitmap scans", async () => {
    await using store = await openPostgresStore();
    await store.tamper(`
      INSERT INTO advisory_texts SELECT '${here}/' || lpad(to_hex(n), 16, '0'), md5(n::text) FROM generate_series(1, 3000) n`);
    await store.tamper("VACUUM ANALYZE advisory_texts");
    await store.tamper("SET enable_bitmapscan = off");
    await store.tamper("BEGIN");
    await store.tamper(`SELECT * FROM find_advisory_texts('%c4ca4238%', NULL, NULL, '${here}/', '${here}0', NULL, 10)`);
    const scans = await store.tamper("SELECT pg_stat_get_xact_numscans('advisory_texts_trigrams'::regclass) AS count");
    const setting = await store.tamper("SHOW enable_bitmapscan");
    await store.tamper("ROLLBACK");
    assert.deepEqual([scans, setting], [[{ count: "1" }], [{ enable_bitmapscan: "off" }]]);
  });
});
