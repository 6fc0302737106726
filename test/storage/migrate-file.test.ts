import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { loadSqliteDriver } from "../../src/storage/drizzle.ts";
import { driverCode } from "../../src/storage/errors.ts";
import { migrateFile } from "../../src/storage/migrate-file.ts";

describe("migrations of a SQLite file", () => {
  it("fail for want of space with what SQLite says of it, and apply once there is some", () => {
    const driver = loadSqliteDriver();
    const connection = new driver.BetterSqlite(":memory:");
    try {
      connection.pragma("max_page_count = 20");
      assert.throws(
        () => migrateFile(connection, driver),
        (error) => driverCode(error) === "SQLITE_FULL",
      );
      assert.equal(connection.inTransaction, false);
      connection.pragma("max_page_count = 4000");
      migrateFile(connection, driver);
      assert.ok(Number(connection.prepare("SELECT count(*) FROM __drizzle_migrations").pluck().get()) > 0);
    } finally {
      connection.close();
    }
  });
});
