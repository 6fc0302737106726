import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import BetterSqlite from "better-sqlite3";
import { newSnapshot, type Snapshot } from "../../../../src/storage/engine/sqlite/snapshot.ts";
import { damagePage } from "../../damage.ts";

describe("the snapshot of a tick", () => {
  let directory: string;
  let writer: BetterSqlite.Database;
  let reader: BetterSqlite.Database;
  let snapshot: Snapshot;

  beforeEach(() => {
    directory = mkdtempSync(path.join(tmpdir(), "gatehouse-snapshot-"));
    const file = path.join(directory, "database");
    writer = new BetterSqlite(file);
    writer.pragma("journal_mode = WAL");
    writer.exec("CREATE TABLE numbers (number INTEGER) STRICT");
    reader = new BetterSqlite(file, { readonly: true });
    snapshot = newSnapshot(reader);
  });

  afterEach(() => {
    reader.close();
    writer.close();
    rmSync(directory, { recursive: true });
  });

  const add = () => writer.exec("INSERT INTO numbers VALUES (1)");
  const read = () => {
    snapshot.open();
    return reader.prepare("SELECT count(*) FROM numbers").pluck().get();
  };

  it("the snapshot of a tick is the same for all of its reads, and ends with the tick", async () => {
    assert.equal(read(), 0);
    add();
    assert.equal(read(), 0);
    await nextTurn();
    assert.equal(reader.inTransaction, false);
    assert.equal(read(), 1);
  });

  it("counts its tick once, for any number of reads", async () => {
    snapshot.dataVersion();
    read();
    read();
    snapshot.dataVersion();
    assert.equal(snapshot.ticks(), 1);
    await nextTurn();
    snapshot.dataVersion();
    assert.equal(snapshot.ticks(), 2);
    await nextTurn();
    read();
    assert.equal(snapshot.ticks(), 3);
  });

  describe("has a data version", () => {
    it("the data version stays the same until a commit, and reading it begins no snapshot", async () => {
      const first = snapshot.dataVersion();
      await nextTurn();
      assert.equal(snapshot.dataVersion(), first);
      assert.equal(reader.inTransaction, false);
      read();
      assert.equal(snapshot.dataVersion(), first);
      await nextTurn();
      add();
      assert.notEqual(snapshot.dataVersion(), first);
    });

    it("the data version is read once per tick", async () => {
      const first = snapshot.dataVersion();
      add();
      assert.equal(snapshot.dataVersion(), first);
      await nextTurn();
      assert.notEqual(snapshot.dataVersion(), first);
    });

    it("the data version is that of the open snapshot", () => {
      const first = snapshot.dataVersion();
      add();
      assert.equal(read(), 1);
      const second = snapshot.dataVersion();
      assert.notEqual(second, first);
      add();
      assert.equal(snapshot.dataVersion(), second);
    });

    it("the data version is read again before a commit, except for an open body", async () => {
      const first = snapshot.dataVersion();
      add();
      snapshot.end();
      const second = snapshot.dataVersion();
      assert.notEqual(second, first);
      await snapshot.share(async () => {
        assert.equal(snapshot.dataVersion(), second);
        add();
        snapshot.end();
        await nextTurn();
        assert.equal(snapshot.dataVersion(), second);
      });
      await nextTurn();
      assert.notEqual(snapshot.dataVersion(), second);
    });
  });

  it("the snapshot of a tick can end early, so later reads see new commits", () => {
    assert.equal(read(), 0);
    add();
    snapshot.end();
    assert.equal(read(), 1);
  });

  it("the snapshot of a tick lasts as long as a body that shares it", async () => {
    await snapshot.share(async () => {
      assert.equal(read(), 0);
      add();
      await nextTurn();
      snapshot.end();
      assert.equal(read(), 0);
    });
    assert.equal(reader.inTransaction, false);
    assert.equal(read(), 1);
  });

  it("the snapshot of a tick ends with the last of several bodies, also of one that fails", async () => {
    const long = snapshot.share(async () => {
      read();
      await nextTurn();
      await nextTurn();
    });
    await assert.rejects(
      snapshot.share(async () => {
        await nextTurn();
        throw new Error("on purpose");
      }),
      /on purpose/,
    );
    assert.equal(reader.inTransaction, true);
    await long;
    assert.equal(reader.inTransaction, false);
  });

  it("the snapshot of a tick ends after a read of a damaged page: only that read fails", async () => {
    writer.exec("CREATE TABLE texts (text TEXT) STRICT");
    writer.prepare("INSERT INTO texts VALUES (?)").run("x".repeat(3_000));
    writer.pragma("wal_checkpoint(TRUNCATE)");
    const rootPage = writer.prepare("SELECT rootpage FROM sqlite_master WHERE name = 'texts'").pluck().get() as number;
    damagePage(path.join(directory, "database"), rootPage);
    snapshot.open();
    assert.throws(() => reader.prepare("SELECT * FROM texts").all(), { code: "SQLITE_CORRUPT" });
    await nextTurn();
    assert.equal(reader.inTransaction, false);
    assert.equal(read(), 0);
    await assert.rejects(
      snapshot.share(async () => {
        await nextTurn();
        reader.prepare("SELECT * FROM texts").all();
      }),
      { code: "SQLITE_CORRUPT" },
    );
    assert.equal(reader.inTransaction, false);
    add();
    assert.equal(read(), 1);
  });

  it("ignores a closed connection, which reads report", async () => {
    read();
    const state = snapshot.dataVersion();
    reader.close();
    await nextTurn();
    const second = snapshot.dataVersion();
    assert.notEqual(second, state);
    await nextTurn();
    assert.notEqual(snapshot.dataVersion(), second);
    assert.throws(read, /not open/);
  });
});
