// A database on a disk that is full: a file system in memory, which only root can mount.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, it } from "node:test";
import { openDatabase } from "../../../../src/storage/database.ts";
import { defaultDatabaseLimits } from "../../../../src/storage/engine/dialect.ts";
import { StorageReadOnly } from "../../../../src/storage/engine/errors.ts";
import { writeSetting } from "../../../../src/storage/engine/settings.ts";

/** Returns a file system of 16 MiB; undefined where it cannot be mounted. */
function mountSmallDisk(): (Disposable & { readonly folder: string }) | undefined {
  const folder = mkdtempSync(path.join(tmpdir(), "gatehouse-disk-"));
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=16m", "tmpfs", folder], { stdio: "ignore" });
  } catch {
    rmSync(folder, { recursive: true });
    return undefined;
  }
  return {
    folder,
    [Symbol.dispose]() {
      execFileSync("umount", ["--lazy", folder]);
      rmSync(folder, { recursive: true });
    },
  };
}

function fill(file: string): void {
  for (const size of [2 ** 20, 4096])
    try {
      for (;;) writeFileSync(file, Buffer.alloc(size), { flag: "a" });
    } catch {
      // It is full.
    }
}

describe("a SQLite database on a full disk", () => {
  it("is not ready to write until there is space again", async (t) => {
    using disk = mountSmallDisk();
    if (!disk) return t.skip("needs the right to mount a file system");
    const database = await openDatabase(path.join(disk.folder, "gatehouse.db"), defaultDatabaseLimits);
    const context = { actor: "", method: "test", requestId: "", time: 1 };
    const write = (size: number) => database.write(context, (tx) => writeSetting(tx, "filler", "x".repeat(size)));
    await database.check();
    const filler = path.join(disk.folder, "filler");
    fill(filler);
    // Larger than the log, whose space can be used again.
    await assert.rejects(write(4 * 2 ** 20), /not available/);
    await assert.rejects(database.check(), (error) => {
      assert.ok(error instanceof StorageReadOnly);
      return error.message === "the disk of the database is full";
    });
    rmSync(filler);
    await database.check();
    await write(10);
    await database.close();
  });
});
