// Acknowledged writes survive a killed process; others are complete or absent.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import BetterSqlite from "better-sqlite3";
import { readChanges } from "../../src/storage/change-log/change-log.ts";
import { checkDatabase } from "../../src/storage/check/check-database.ts";
import { openDatabase } from "../../src/storage/database.ts";
import { readCounters } from "../../src/storage/engine/counters.ts";
import { defaultDatabaseLimits } from "../../src/storage/engine/dialect.ts";
import { listRows } from "../../src/storage/list/list-rows.ts";
import { collections, groups } from "./fixtures.ts";
import { runWriter } from "./writer-process.ts";

const allRoots = {
  sources: [{ type: "children", uid: null }],
  filters: {},
  order: { field: "uid", descending: false },
  after: undefined,
  skip: 0,
  limit: 100_000,
} as const;

/** Returns the root groups of a database. Each must have both of its children, and the check must find nothing. */
async function soundRoots(file: string): Promise<Set<string>> {
  const database = await openDatabase(file, defaultDatabaseLimits);
  try {
    const roots = await listRows(database.session, groups, allRoots);
    for (const { uid } of roots) {
      assert.deepEqual(await readCounters(database.session, uid), new Map([["groups", 2]]), uid);
    }
    const { rows, findings } = await database.read((session) => checkDatabase(session, collections));
    assert.deepEqual(findings, []);
    assert.equal((await readChanges(database.session, 0, 100_000)).length, rows);
    return new Set(roots.map(({ uid }) => uid));
  } finally {
    await database.close();
  }
}

/** Opens it as another program does. */
function openRaw(file: string) {
  const connection = new BetterSqlite(file);
  return { connection, [Symbol.dispose]: () => void connection.close() };
}

function countRoots(connection: BetterSqlite.Database): number {
  return Number(connection.prepare("SELECT count(*) FROM groups WHERE uid NOT LIKE '%/%'").pluck().get());
}

describe("a SQLite database whose process is killed", () => {
  let directory = "";
  before(() => {
    directory = mkdtempSync(path.join(tmpdir(), "gatehouse-crash-"));
  });
  after(() => rmSync(directory, { recursive: true, force: true }));

  for (const killAfter of [1, 40, 250]) {
    it(`after ${killAfter} acknowledged writes has them all, and no partial write`, async () => {
      const file = path.join(directory, "gatehouse.db");
      const { acknowledged, exitCode } = await runWriter(file, `killed after ${killAfter}`, 100_000, killAfter);
      assert.equal(exitCode, null, "it ended before it was killed");
      assert.ok(acknowledged.length >= killAfter);
      const roots = await soundRoots(file);
      assert.deepEqual(
        acknowledged.filter((uid) => !roots.has(uid)),
        [],
      );
    });
  }
});

describe("a SQLite database of two processes", () => {
  it("is created by both at the same time, and has every write of both", async () => {
    const directory = mkdtempSync(path.join(tmpdir(), "gatehouse-processes-"));
    try {
      const file = path.join(directory, "gatehouse.db");
      const results = await Promise.all([runWriter(file, "first", 10), runWriter(file, "second", 10)]);
      assert.deepEqual(
        results.map(({ exitCode }) => exitCode),
        [0, 0],
      );
      const roots = await soundRoots(file);
      assert.equal(roots.size, 160);
      for (const { acknowledged } of results) assert.ok(acknowledged.every((uid) => roots.has(uid)));
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  });

  it("can be copied during writes: the copy is one complete snapshot", async () => {
    const directory = mkdtempSync(path.join(tmpdir(), "gatehouse-copy-"));
    try {
      const file = path.join(directory, "gatehouse.db");
      const copy = path.join(directory, "copy.db");
      await runWriter(file, "before", 1);
      const written = await soundRoots(file);
      const writing = runWriter(file, "meanwhile", 40);
      using source = openRaw(file);
      while (countRoots(source.connection) <= written.size) await pause(5);
      source.connection.prepare("VACUUM INTO ?").run(copy);
      const { exitCode } = await writing;
      assert.equal(exitCode, 0);
      const copied = await soundRoots(copy);
      assert.ok(copied.size > written.size, `${copied.size}`);
      assert.ok([...written].every((uid) => copied.has(uid)));
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  });
});
