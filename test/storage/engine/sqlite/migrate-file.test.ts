import assert from "node:assert/strict";
import { describe, it } from "node:test";
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
});
