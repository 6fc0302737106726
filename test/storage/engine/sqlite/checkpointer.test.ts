import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, it, type TestContext } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import BetterSqlite from "better-sqlite3";
import { StorageUnavailable } from "../../../../src/storage/engine/errors.ts";
import { type Checkpointer, newCheckpointer } from "../../../../src/storage/engine/sqlite/checkpointer.ts";

const longLog = 100;

function open(t: TestContext) {
  const directory = mkdtempSync(path.join(tmpdir(), "gatehouse-checkpointer-"));
  const file = path.join(directory, "database");
  const writer = new BetterSqlite(file);
  writer.pragma("journal_mode = WAL");
  writer.pragma("wal_autocheckpoint = 0");
  writer.exec("CREATE TABLE pages (page TEXT) STRICT");
  const checkpointer = newCheckpointer(file, longLog);
  t.after(async () => {
    await checkpointer.close();
    writer.close();
    rmSync(directory, { recursive: true });
  });
  return { file, writer, checkpointer };
}

/** Adds pages to the log. */
function write(writer: BetterSqlite.Database, pages: number): void {
  writer.prepare("INSERT INTO pages VALUES (?)").run("x".repeat(pages * 4096));
}

/** Returns the promise that writes await, once the thread knows the length of the log. */
async function waitFor(checkpointer: Checkpointer): Promise<{ readonly room: Promise<void> }> {
  for (;;) {
    checkpointer.afterCommit();
    const room = checkpointer.waitForRoom();
    if (room) return { room };
    await pause(20);
  }
}

describe("the checkpointer", () => {
  it("does not keep the process alive, unless a write waits for it", async (t) => {
    const { file, writer } = open(t);
    write(writer, longLog + 1);
    const module = JSON.stringify(new URL("../../../../src/storage/engine/sqlite/checkpointer.ts", import.meta.url));
    const run = async (rest: string) => {
      const script = `const { newCheckpointer } = await import(${module}); const it = newCheckpointer(${JSON.stringify(file)}, -1); ${rest}`;
      return (await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", script])).stdout;
    };
    assert.equal(await run("it.afterCommit(); setTimeout(() => console.log('idle'), 500);"), "idle\n");
    assert.equal(await run("await it.waitForRoom(); console.log('waited');"), "waited\n");
  });

  it("makes writes wait for a long log, which then restarts", async (t) => {
    const { writer, checkpointer } = open(t);
    assert.equal(checkpointer.waitForRoom(), undefined);
    write(writer, longLog + 1);
    await (await waitFor(checkpointer)).room;
    assert.equal(checkpointer.waitForRoom(), undefined);
    write(writer, 1);
    const [{ log }] = writer.pragma("wal_checkpoint(PASSIVE)") as [{ log: number }];
    assert.ok(log < longLog, `${log} pages`);
  });

  it("makes them wait again while a reader uses the start of the log", async (t) => {
    const { file, writer, checkpointer } = open(t);
    const reader = new BetterSqlite(file, { readonly: true });
    t.after(() => reader.close());
    reader.exec("BEGIN; SELECT count(*) FROM pages");
    write(writer, longLog + 1);
    await (await waitFor(checkpointer)).room;
    assert.ok(checkpointer.waitForRoom());
    reader.exec("COMMIT");
    await (await waitFor(checkpointer)).room;
    assert.equal(checkpointer.waitForRoom(), undefined);
  });

  it("blocks writes after a failed flush until the log is empty", async (t) => {
    const { file, writer, checkpointer } = open(t);
    const reader = new BetterSqlite(file, { readonly: true });
    t.after(() => reader.close());
    write(writer, 1);
    reader.exec("BEGIN; SELECT count(*) FROM pages");
    write(writer, 1);
    checkpointer.afterFailedFlush();
    await assert.rejects(checkpointer.waitForRoom()!, StorageUnavailable);
    reader.exec("COMMIT");
    await checkpointer.waitForRoom();
    assert.equal(statSync(`${file}-wal`).size, 0);
    assert.equal(checkpointer.waitForRoom(), undefined);
  });

  it("truncates the log on a full disk before the next write", async (t) => {
    const { file, writer, checkpointer } = open(t);
    write(writer, 1);
    assert.ok(statSync(`${file}-wal`).size > 0);
    checkpointer.afterFull();
    await checkpointer.waitForRoom();
    assert.equal(statSync(`${file}-wal`).size, 0);
    assert.equal(checkpointer.waitForRoom(), undefined);
  });

  it("can be closed at any time while its thread starts", async (t) => {
    const { file } = open(t);
    for (let pauseMs = 0; pauseMs < 40; pauseMs += 3) {
      const checkpointer = newCheckpointer(file, -1);
      const room = checkpointer.waitForRoom();
      await pause(pauseMs);
      await checkpointer.close();
      await room;
    }
  });

  it("makes no write wait once it is closed", async (t) => {
    const { writer, checkpointer } = open(t);
    write(writer, longLog + 1);
    const { room } = await waitFor(checkpointer);
    await checkpointer.close();
    await room;
    assert.equal(checkpointer.waitForRoom(), undefined);
  });
});
