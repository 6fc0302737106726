import assert from "node:assert/strict";
import { describe, it } from "node:test";
import BetterSqlite from "better-sqlite3";
import { driverCode } from "../../../../src/storage/engine/errors.ts";
import { migrateFile } from "../../../../src/storage/engine/sqlite/migrate-file.ts";

describe("migrations of a SQLite file", () => {
  it("fail on a full disk with the error of SQLite, and succeed once there is space", () => {
    const reported: [names: string[], isNew: boolean][] = [];
    const connection = new BetterSqlite(":memory:");
    const migrate = () =>
      migrateFile(connection, "create", (applied, isNew) => reported.push([applied.map(({ name }) => name), isNew]));
    try {
      connection.pragma("max_page_count = 20");
      assert.throws(migrate, (error) => driverCode(error) === "SQLITE_FULL");
      assert.equal(connection.inTransaction, false);
      connection.pragma("max_page_count = 4000");
      migrate();
      migrate();
      assert.ok(Number(connection.prepare("SELECT count(*) FROM __drizzle_migrations").pluck().get()) > 0);
      assert.equal(reported.length, 1);
      assert.deepEqual([reported[0]?.[0][0], reported[0]?.[1]], ["0000_initial", true]);
    } finally {
      connection.close();
    }
  });
});
