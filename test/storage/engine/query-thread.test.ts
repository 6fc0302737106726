import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { setImmediate as nextTick } from "node:timers/promises";
import BetterSqlite from "better-sqlite3";
import { measureWork } from "../../../src/base/slices.ts";
import { StorageUnavailable } from "../../../src/storage/engine/errors.ts";
import { newQueryThread, type QueryThread } from "../../../src/storage/engine/sqlite/query-thread.ts";

/** Takes a large part of a second. */
const slow = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000) SELECT count(*) FROM n";
const count = "SELECT count(*) FROM things";

describe("the thread for queries of SQLite", () => {
  const directory = mkdtempSync(path.join(tmpdir(), "gatehouse-"));
  const file = path.join(directory, "things.db");
  const writer = new BetterSqlite(file);
  let thread: QueryThread;
  before(() => {
    writer.pragma("journal_mode = WAL");
    writer.exec("CREATE TABLE things (name TEXT); INSERT INTO things VALUES ('a')");
    thread = newQueryThread(file, []);
  });
  after(async () => {
    await thread.close();
    writer.close();
    rmSync(directory, { recursive: true });
  });

  it("a slow statement lets the event loop turn", async () => {
    let isDone = false;
    const reading = thread
      .read((run) => run(slow, []))
      .finally(() => {
        isDone = true;
      });
    let turns = 0;
    for (; !isDone; turns++) await nextTick();
    assert.deepEqual(await reading, [[200_000]]);
    assert.ok(turns > 20, `${turns} turns`);
  });

  it("the statements of one read see one snapshot, and a later read what was committed before it", async () => {
    const counts = await thread.read(async (run) => {
      const first = await run(count, []);
      writer.exec("INSERT INTO things VALUES ('b')");
      return [...first, ...(await run(count, []))];
    });
    assert.deepEqual(counts, [[1], [1]]);
    assert.deepEqual(await thread.read((run) => run("SELECT name FROM things WHERE name = ?", ["b"])), [["b"]]);
  });

  it("a short computation that waits for the slow statements of another has its own computing time only", async () => {
    const used = (sql: string) =>
      measureWork(undefined, async (work) => {
        for (let i = 0; i < 5; i++) await thread.read((run) => run(sql, []));
        return work.usedMs();
      });
    const [long, short] = await Promise.all([used(slow), used(count)]);
    assert.ok(short! < long! / 2, `${short} ms, and ${long} ms for the other`);
  });

  it("an error has the code of the driver, and the next read succeeds", async () => {
    await assert.rejects(
      thread.read((run) => run("DELETE FROM things RETURNING name", [])),
      { code: "SQLITE_READONLY" },
    );
    await assert.rejects(
      thread.read((run) => run("SELECT nothing", [])),
      { code: "SQLITE_ERROR" },
    );
    assert.deepEqual(await thread.read((run) => run(count, [])), [[2]]);
  });

  it("more reads than there are connections wait for each other", async () => {
    const reads = Array.from({ length: 20 }, () => thread.read((run) => run(count, [])));
    assert.deepEqual(await Promise.all(reads), Array(20).fill([[2]]));
  });

  it("a read that has begun when the thread closes fails at its next statement, and ends before the thread", async () => {
    const closing = newQueryThread(file, []);
    const begun = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const ended: string[] = [];
    const reading = closing.read(async (run) => {
      await run(count, []);
      begun.resolve();
      await goOn.promise;
      return await run(count, []);
    });
    await begun.promise;
    const closed = closing.close().then(() => ended.push("thread"));
    goOn.resolve();
    await assert.rejects(
      reading.finally(() => ended.push("read")),
      StorageUnavailable,
    );
    await closed;
    assert.deepEqual(ended, ["read", "thread"]);
    await assert.rejects(
      closing.read((run) => run(count, [])),
      StorageUnavailable,
    );
  });
});
