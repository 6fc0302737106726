import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import type BetterSqlite from "better-sqlite3";
import { driverCode } from "../../../../src/storage/engine/errors.ts";
import { migrateFile } from "../../../../src/storage/engine/sqlite/migrate-file.ts";
import { loadSqliteDriver } from "../../../../src/storage/schema/drizzle.ts";

describe("migrations of a SQLite file", () => {
  it("fail on a full disk with the error of SQLite, and succeed once there is space", () => {
    const driver = loadSqliteDriver();
    const reported: (readonly string[])[] = [];
    const report = (names: readonly string[]) => reported.push(names);
    const connection = new driver.BetterSqlite(":memory:");
    try {
      connection.pragma("max_page_count = 20");
      assert.throws(
        () => migrateFile(connection, driver, report),
        (error) => driverCode(error) === "SQLITE_FULL",
      );
      assert.equal(connection.inTransaction, false);
      connection.pragma("max_page_count = 4000");
      migrateFile(connection, driver, report);
      migrateFile(connection, driver, report);
      assert.ok(Number(connection.prepare("SELECT count(*) FROM __drizzle_migrations").pluck().get()) > 0);
      // A new database has no migration to report.
      assert.deepEqual(reported, []);
    } finally {
      connection.close();
    }
  });

  it("are reported by name for a file of an earlier version", () => {
    const driver = loadSqliteDriver();
    const connection = new driver.BetterSqlite(":memory:");
    const reported: (readonly string[])[] = [];
    try {
      const earlier = applyFirst(connection, 5);
      migrateFile(connection, driver, (names) => reported.push(names));
      const [names = []] = reported;
      assert.equal(reported.length, 1);
      assert.equal(names.length, migrations.length - earlier);
      assert.equal(names[0], migrations[earlier]?.tag);
    } finally {
      connection.close();
    }
  });
});

const folder = new URL("../../../../src/storage/schema/migrations/sqlite/", import.meta.url);
const migrations: readonly { readonly tag: string; readonly when: number }[] = JSON.parse(
  readFileSync(new URL("meta/_journal.json", folder), "utf8"),
).entries;

/** Applies the first migrations, as an earlier version did. */
function applyFirst(connection: BetterSqlite.Database, count: number): number {
  connection.exec("CREATE TABLE __drizzle_migrations (id INTEGER PRIMARY KEY, hash text NOT NULL, created_at numeric)");
  for (const { tag, when } of migrations.slice(0, count)) {
    connection.exec(readFileSync(new URL(`${tag}.sql`, folder), "utf8"));
    connection.prepare("INSERT INTO __drizzle_migrations (hash, created_at) VALUES (?, ?)").run(tag, when);
  }
  return count;
}
