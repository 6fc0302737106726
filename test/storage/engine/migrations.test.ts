// Tests which databases a version of the program can use and migrate, by the migrations that it has.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, describe, it } from "node:test";
import { DatabaseMissing, DatabaseVersionMismatch } from "../../../src/storage/engine/errors.ts";
import { isNewer, pendingMigrations, requireMode } from "../../../src/storage/engine/migrations.ts";

const folder = mkdtempSync(path.join(tmpdir(), "gatehouse-migrations-"));
after(() => rmSync(folder, { recursive: true }));
mkdirSync(path.join(folder, "meta"));
const entries = ["0000_first", "0001_second", "0002_third"].map((tag, i) => ({ tag, when: 1000 + i }));
writeFileSync(path.join(folder, "meta", "_journal.json"), JSON.stringify({ entries }));
for (const { tag } of entries)
  writeFileSync(path.join(folder, `${tag}.sql`), "SELECT 1;--> statement-breakpoint\nSELECT 2;");

const mismatch = "a DatabaseVersionMismatch";

/** Returns the names of the pending migrations of a database, or that it is rejected. */
function pendingFor(applied: number | undefined, compatibleSince?: string): string[] | string {
  try {
    return pendingMigrations(folder, { applied, compatibleSince }).map(({ name }) => name);
  } catch (error) {
    assert.ok(error instanceof DatabaseVersionMismatch);
    return mismatch;
  }
}

describe("migrations", () => {
  const all = entries.map(({ tag }) => tag);
  for (const [title, applied, compatibleSince, expected] of [
    ["all are pending for a new database", undefined, undefined, all],
    ["a database that stopped before the first one is rejected", 999, undefined, mismatch],
    ["later ones are pending", 1000, undefined, all.slice(1)],
    ["none is pending with the latest one", 1002, undefined, []],
    ["a database of a newer version is used while nothing was removed", 1003, undefined, []],
    [
      "a database of a newer version is used if what it removed was unused since a known migration",
      1003,
      "0002_third",
      [],
    ],
    ["a database of a newer version is rejected if that migration is unknown", 1003, "0003_fourth", mismatch],
  ] as const)
    it(title, () => assert.deepEqual(pendingFor(applied, compatibleSince), expected));

  it("have their statements", () => {
    const [first] = pendingMigrations(folder, { applied: undefined, compatibleSince: undefined });
    assert.deepEqual(first?.statements, ["SELECT 1;", "\nSELECT 2;"]);
  });

  it("migrations of a newer version are recognized by their time", () => {
    assert.deepEqual(
      [undefined, 1000, 1002, 1003].map((applied) => isNewer(folder, applied)),
      [false, false, false, true],
    );
  });
});

describe("the mode of opening a database", () => {
  const pending = pendingMigrations(folder, { applied: 1000, compatibleSince: undefined });

  it("create and existing let migrations be applied; migrated does not, and names them with the command", () => {
    requireMode("create", { applied: 1000 }, pending);
    requireMode("existing", { applied: 1000 }, pending);
    requireMode("migrated", { applied: 1002 }, []);
    assert.throws(() => requireMode("migrated", { applied: 1000 }, pending), {
      name: "DatabaseVersionMismatch",
      message:
        "lacks migrations (0001_second, 0002_third), and migrate is off; run gatehouse db migrate, or set --migrate=auto",
    });
  });

  it("only create makes a new database", () => {
    requireMode("create", { applied: undefined }, pending);
    for (const mode of ["existing", "migrated"] as const)
      assert.throws(() => requireMode(mode, { applied: undefined }, pending), DatabaseMissing);
  });
});
