import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { loadSqliteDriver } from "../../src/storage/drizzle.ts";
import { driverCode } from "../../src/storage/errors.ts";
import { migrateFile } from "../../src/storage/migrate-file.ts";

describe("migrations of a SQLite file", () => {
  it("fail for want of space with what SQLite says of it, and apply once there is some", () => {
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
      // Once, and only those that were applied.
      assert.equal(reported.length, 1);
      assert.equal(reported[0]?.[0], "0000_iam");
    } finally {
      connection.close();
    }
  });
});
