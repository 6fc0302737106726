// Translations of driver errors.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  driverCode,
  ReferenceViolation,
  StorageDamaged,
  StorageReadOnly,
  StorageUnavailable,
  UniqueViolation,
} from "../../../src/storage/engine/errors.ts";
import { translatePostgresError } from "../../../src/storage/engine/postgres/errors.ts";
import { translateSqliteError } from "../../../src/storage/engine/sqlite/errors.ts";
import { DrizzleQueryError } from "../../../src/storage/schema/drizzle.ts";

function failure(code: string): Error {
  return Object.assign(new Error(`the driver says ${code}`), { code });
}

/** Translates a driver error as the database that its code belongs to does. */
function translateError(error: unknown): unknown {
  return driverCode(error)?.startsWith("SQLITE_") ? translateSqliteError(error) : translatePostgresError(error);
}

const translations = [
  ["SQLITE_CONSTRAINT_PRIMARYKEY", UniqueViolation],
  ["SQLITE_CONSTRAINT_UNIQUE", UniqueViolation],
  ["SQLITE_CONSTRAINT_FOREIGNKEY", ReferenceViolation],
  ["SQLITE_BUSY", StorageUnavailable],
  ["SQLITE_BUSY_SNAPSHOT", StorageUnavailable],
  ["SQLITE_FULL", StorageUnavailable],
  ["SQLITE_IOERR_WRITE", StorageUnavailable],
  ["SQLITE_IOERR_FSYNC", StorageUnavailable],
  ["SQLITE_CORRUPT", StorageDamaged],
  ["SQLITE_CORRUPT_INDEX", StorageDamaged],
  ["SQLITE_NOTADB", StorageDamaged],
  ["XX001", StorageDamaged],
  ["XX002", StorageDamaged],
  ["23505", UniqueViolation],
  ["23503", ReferenceViolation],
  ["40001", StorageUnavailable],
  ["40P01", StorageUnavailable],
  ["08006", StorageUnavailable],
  ["25006", StorageReadOnly],
  ["26000", StorageUnavailable],
  ["42P05", StorageUnavailable],
  ["SQLITE_READONLY_DBMOVED", StorageReadOnly],
  ["25P03", StorageUnavailable],
  ["53100", StorageUnavailable],
  ["53300", StorageUnavailable],
  ["55P03", StorageUnavailable],
  ["57014", StorageUnavailable],
  ["57P01", StorageUnavailable],
  ["ECONNREFUSED", StorageUnavailable],
  ["58030", StorageUnavailable],
  ["ECONNRESET", StorageUnavailable],
  ["EHOSTUNREACH", StorageUnavailable],
  ["ENETUNREACH", StorageUnavailable],
] as const;

/** Errors of the program or the data: a retry does not help. */
const untranslated = [
  "SQLITE_CONSTRAINT_NOTNULL",
  "SQLITE_CONSTRAINT_DATATYPE",
  "SQLITE_ERROR",
  "23502",
  "42P01",
  "22021",
  "XX000",
];

describe("storage errors", () => {
  for (const [code, error] of translations) {
    it(`${code} is a ${error.name}, wrapped by Drizzle or not, and keeps its code`, () => {
      for (const thrown of [failure(code), new DrizzleQueryError("select", ["secret"], failure(code))]) {
        const translated = translateError(thrown);
        assert.ok(translated instanceof error);
        assert.ok(!JSON.stringify([translated.message, `${translated.cause}`]).includes("secret"));
      }
      if (error === StorageUnavailable || error === StorageDamaged)
        assert.equal(driverCode(translateError(failure(code))), code);
    });
  }

  for (const code of untranslated) {
    it(`${code} is returned unchanged`, () => {
      const thrown = failure(code);
      assert.equal(translateError(thrown), thrown);
      assert.equal(translateError(new DrizzleQueryError("select", ["secret"], thrown)), thrown);
    });
  }

  it("a translated error and one of a service are returned unchanged", () => {
    const refused = translateError(failure("23505"));
    assert.equal(translateError(refused), refused);
    const own = Object.assign(new Error("not found", { cause: failure("23505") }), { code: 5 });
    assert.equal(translateError(own), own);
  });
});
