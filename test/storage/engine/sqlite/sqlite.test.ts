import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, it } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { checkDatabase } from "../../../../src/storage/check/check-database.ts";
import { deleteRow, findRow, insertRow } from "../../../../src/storage/collection/rows.ts";
import { openDatabase } from "../../../../src/storage/database.ts";
import { readCounter, readCounters, setCounter } from "../../../../src/storage/engine/counters.ts";
import { defaultDatabaseLimits } from "../../../../src/storage/engine/dialect.ts";
import { StorageUnavailable } from "../../../../src/storage/engine/errors.ts";
import type { Transaction } from "../../../../src/storage/engine/session.ts";
import { writeSetting } from "../../../../src/storage/engine/settings.ts";
import { keptLogBytes } from "../../../../src/storage/engine/sqlite/checkpointer.ts";
import * as tables from "../../../../src/storage/schema/tables.sqlite.ts";
import { conformance } from "../../conformance.ts";
import { collections, type GroupRow, groupRow, groups, write } from "../../fixtures.ts";
import { explainPages, explainSearch } from "../../plans.ts";
import { openSqliteStore, type Store } from "../../stores.ts";
import { missingSqliteMigration } from "../migrations.ts";

conformance("SQLite", openSqliteStore);

const root = groupRow(null, "root");

describe("SQLite: a lock that another process holds", () => {
  it("is waited for without blocking the event loop", async () => {
    await using store = await openSqliteStore();
    await store.tamper("BEGIN IMMEDIATE");
    let isHeld = true;
    const writing = write(store.database, (tx) => insertRow(tx, groups, root)).then(() => isHeld);
    // If the writer blocked the event loop, this timer would never fire and the lock would never be released.
    await pause(300);
    assert.equal(await findRow(store.database.session, groups, root.uid), undefined);
    isHeld = false;
    await store.tamper("COMMIT");
    assert.equal(await writing, false, "it was answered while the lock was held");
    assert.deepEqual(await findRow(store.database.session, groups, root.uid), root);
  });

  it("makes writes unavailable beyond the timeout, only until it is released", async () => {
    await using store = await openSqliteStore();
    const database = await store.open({ lockTimeoutMs: 50 });
    await store.tamper("BEGIN IMMEDIATE");
    await assert.rejects(
      write(database, (tx) => insertRow(tx, groups, root)),
      StorageUnavailable,
    );
    await store.tamper("COMMIT");
    await write(database, (tx) => insertRow(tx, groups, root));
    assert.deepEqual(await findRow(database.session, groups, root.uid), root);
  });
});

describe("SQLite: writes that share a commit", () => {
  const rows = Array.from({ length: 4 }, (_, i) => groupRow(root.uid, `child ${i}`));
  const add = (row: GroupRow) => (tx: Transaction) => insertRow(tx, groups, row);
  const drop = (row: GroupRow) => (tx: Transaction) => deleteRow(tx, groups, row);

  /** Runs concurrent writes, and returns the result of each. */
  async function together<T>({ database }: Store, bodies: readonly ((tx: Transaction) => Promise<T>)[]) {
    const answers = await Promise.allSettled(bodies.map((body) => write(database, body)));
    const { findings } = await database.read((session) => checkDatabase(session, collections));
    assert.deepEqual(findings, []);
    return answers.map((answer) => (answer.status === "fulfilled" ? answer.value : answer.reason.message));
  }

  it("see what earlier ones have added to the counters, but not what has failed", async () => {
    await using store = await openSqliteStore();
    await write(store.database, add(root));
    const count = (tx: Transaction) => readCounter(tx, root.uid, groups.kind);
    const below = async (tx: Transaction) => Object.fromEntries(await readCounters(tx, root.uid));
    const failing = async (tx: Transaction) => {
      await add(rows[2]!)(tx);
      throw new Error("on purpose");
    };
    const [first, second] = [rows[0]!, rows[1]!];
    const bodies = [add(first), count, add(second), below, failing, count, drop(first), count, drop(second), below];
    const answers = await together<unknown>(store, bodies);
    const added = [undefined, 1, undefined, { groups: 2 }, "on purpose", 2];
    assert.deepEqual(answers, [...added, undefined, 1, undefined, {}]);
    assert.equal(await readCounter(store.database.session, root.uid, groups.kind), 0);
  });

  it("can delete rows that others of them inserted, and insert them again", async () => {
    await using store = await openSqliteStore();
    await write(store.database, add(root));
    const child = rows[0]!;
    const below = groupRow(child.uid, "below");
    const bodies = [add(child), add(below), drop(below), drop(child), add(child), add(below), add(rows[1]!)];
    await together(store, bodies);
    assert.equal(await readCounter(store.database.session, root.uid, groups.kind), 3);
    assert.equal(await readCounter(store.database.session, child.uid, groups.kind), 1);
    const belowChild = (tx: Transaction) => readCounter(tx, child.uid, groups.kind);
    const again = await together<unknown>(store, [drop(below), drop(child), add(child), belowChild, drop(child)]);
    assert.equal(again[3], 0);
    assert.deepEqual(await store.tamper(`SELECT * FROM counters WHERE key LIKE '${child.uid}%'`), []);
  });

  it("can set a counter, which then includes earlier ones", async () => {
    await using store = await openSqliteStore();
    await write(store.database, add(root));
    await together(store, [add(rows[0]!), (tx) => setCounter(tx, root.uid, groups.kind, 1), add(rows[1]!)]);
  });

  it("leave several ticks of reads between them", async (t) => {
    await using store = await openSqliteStore();
    const { database } = store;
    await write(database, (tx) => insertRow(tx, groups, root));
    let now = performance.now();
    t.mock.method(performance, "now", () => now);
    let turns = 0;
    let between: number | undefined;
    const turn = () => {
      void findRow(database.session, groups, root.uid);
      turns++;
      now++;
      if (between === undefined) setImmediate(turn);
    };
    const first = write(database, async () => {
      now += 10;
      setImmediate(turn);
    });
    const second = write(database, async () => {
      between = turns;
    });
    try {
      await Promise.all([first, second]);
    } finally {
      between ??= turns;
    }
    assert.equal(between, 30);
  });
});

describe("SQLite: the file", () => {
  it("is accessible to its owner only, with its log: it holds signing keys", async () => {
    await using stack = new AsyncDisposableStack();
    const parent = mkdtempSync(path.join(tmpdir(), "gatehouse-modes-"));
    stack.defer(() => rmSync(parent, { recursive: true }));
    // The database makes this folder.
    const folder = path.join(parent, "data");
    const file = path.join(folder, "gatehouse.db");
    const open = async () => {
      const database = await openDatabase(file, defaultDatabaseLimits);
      stack.defer(() => database.close());
      return database;
    };
    await write(await open(), (tx) => insertRow(tx, groups, root));
    const modes = readdirSync(folder).map((name) => [name, statSync(path.join(folder, name)).mode & 0o777]);
    assert.deepEqual(modes.sort(), [
      ["gatehouse.db", 0o600],
      ["gatehouse.db-shm", 0o600],
      ["gatehouse.db-wal", 0o600],
    ]);
    assert.equal(statSync(folder).mode & 0o777, 0o700);
    chmodSync(file, 0o644);
    await open();
    assert.equal(statSync(file).mode & 0o777, 0o600, "a file that others could read when it was opened");
  });

  it("has strict tables that are their own primary index, except large rows, the searched texts, and rows that are numbered", async () => {
    await using store = await openSqliteStore();
    const found = await store.tamper(`
      SELECT name, wr, strict FROM pragma_table_list
      WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite%' AND name <> '${store.migrationsTable}'`);
    const names = found.map(({ name }) => name);
    const withRowids = ["changes", "advisory_records", "advisory_texts", "images", "packages"];
    assert.equal(names.length, Object.keys(tables.sqliteTables).length);
    assert.deepEqual(
      found,
      names.map((name) => ({ name, wr: withRowids.includes(String(name)) ? 0 : 1, strict: 1 })),
    );
  });

  it("has migrations that create exactly the declared tables", async () => {
    assert.deepEqual(await missingSqliteMigration(), []);
  });
});

describe("SQLite: the log", () => {
  it("shrinks again after another process has read for long", async () => {
    await using store = await openSqliteStore();
    const { database } = store;
    const size = () => statSync(`${store.url}-wal`).size;
    await write(database, (tx) => insertRow(tx, groups, root));
    await store.tamper("BEGIN");
    await store.tamper("SELECT count(*) FROM groups");
    for (let i = 0; i < 10; i++) await write(database, (tx) => writeSetting(tx, "text", `${i}`.repeat(2 ** 23)));
    assert.ok(size() > keptLogBytes, `${size()} bytes`);
    await store.tamper("COMMIT");
    for (let tries = 0; size() > keptLogBytes && tries < 500; tries++) {
      await write(database, (tx) => writeSetting(tx, "colour", `${tries}`));
      await pause(20);
    }
    assert.ok(size() <= keptLogBytes, `${size()} bytes`);
  });
});

describe("SQLite: the plan of a page", () => {
  it("a page of critical and affected advisories, newest first, reads one index in order and then its own rows", async () => {
    const [total, ...pages] = await explainSearch();
    const index = /^SEARCH advisories USING COVERING INDEX advisories_published \(<expr>=\?/;
    assert.match(total!.plan.join("; "), index);
    for (const { name, plan } of pages) {
      const inOrder = plan.findIndex((step) => index.test(step));
      assert.ok(inOrder >= 0, `${name}: ${plan.join("; ")}`);
      // What is sorted are the rows of the page, behind the index.
      assert.doesNotMatch(plan.slice(0, inOrder + 2).join("; "), /TEMP B-TREE/, name);
    }
    assert.equal(pages.length, 2);
  });

  it("searches an index in order, and neither scans nor sorts", async () => {
    const plans = await explainPages();
    // Three kinds of range in eight orders, two of them also under a condition: the first page, a later one, and a
    // cursor at a large offset. And the change log in both directions, with and without names.
    assert.equal(plans.length, (3 + 2) * 8 * 3 + 4);
    for (const { name, plan } of plans) {
      assert.ok(plan.length > 0, name);
      for (const step of plan) {
        assert.match(step, /^SEARCH \w+ USING (?:(?:COVERING )?INDEX|PRIMARY KEY)\b/, `${name}: ${plan.join("; ")}`);
      }
    }
  });
});
