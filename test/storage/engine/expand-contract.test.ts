// Two neighbouring versions run side by side on one database, so a migration only adds, or says which programs survive it.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { type Migration, pendingMigrations } from "../../../src/storage/engine/migrations.ts";
import { contractStepsOf, problemsOf } from "./expand-contract.ts";
import { contract, copyMigrations, expand } from "./migration-folder.ts";

const isNew = { applied: undefined, compatibleSince: undefined };

describe("migrations of neighbouring versions", () => {
  for (const dialect of ["sqlite", "postgres"]) {
    it(`remove nothing without saying which versions can go on, ${dialect}`, () => {
      const folder = fileURLToPath(new URL(`../../../src/storage/schema/migrations/${dialect}`, import.meta.url));
      assert.deepEqual(problemsOf(pendingMigrations(folder, isNew)), []);
    });
  }

  it("are read with the migration that a program must have", () => {
    using folder = copyMigrations("sqlite");
    folder.add(expand, contract);
    const migrations = pendingMigrations(folder.path, isNew);
    assert.deepEqual(
      migrations.slice(-2).map(({ compatibleSince }) => compatibleSince),
      [undefined, expand[0]],
    );
    assert.deepEqual(problemsOf(migrations), []);
  });

  for (const [statement, what] of [
    ["ALTER TABLE `groups` DROP COLUMN `name`;", "DROP of anything but an index"],
    ["DROP TABLE IF EXISTS things;", "DROP of anything but an index"],
    ['ALTER TABLE "groups" RENAME COLUMN "a" TO "b";', "RENAME"],
    ['ALTER TABLE "groups" ALTER COLUMN "a" SET DATA TYPE bigint;', "another type of a column"],
    ['ALTER TABLE "groups" ALTER COLUMN "a" SET NOT NULL;', "SET NOT NULL"],
    // The version before would read nulls.
    ['ALTER TABLE "groups" ALTER COLUMN "a" DROP NOT NULL;', "DROP of anything but an index"],
    ['ALTER TABLE "groups" ALTER COLUMN "a" DROP DEFAULT;', "DROP DEFAULT"],
    ['ALTER TABLE "groups" ADD COLUMN "a" text NOT NULL;', "a column that is NOT NULL without a default"],
    ["ALTER TABLE `groups` ADD `a` text NOT NULL;", "a column that is NOT NULL without a default"],
    ['ALTER TABLE "groups" ADD CONSTRAINT "c" CHECK (a > 1);', "a new rule for the rows of groups"],
    ["CREATE UNIQUE INDEX `u` ON `groups` (`name`);", "a new rule for the rows of groups"],
  ] as const)
    it(`need compatible_since: ${statement}`, () =>
      assert.deepEqual(contractStepsOf({ statements: [statement] }), [what]));

  for (const statement of [
    "ALTER TABLE `groups` ADD `a` text;",
    'ALTER TABLE "groups" ADD COLUMN "a" text DEFAULT \'\' NOT NULL;',
    'ALTER TABLE "groups" ADD COLUMN "a" text NOT NULL DEFAULT \'\';',
    'CREATE TABLE "things" ("a" text NOT NULL);\nCREATE UNIQUE INDEX "u" ON "things" ("a");',
    'CREATE TABLE "things" ("a" text);\nALTER TABLE "things" ADD CONSTRAINT "c" FOREIGN KEY ("a") REFERENCES "groups"("uid");',
    "DROP INDEX `groups_name`;",
    "-- DROP TABLE in a comment\nSELECT 1;",
  ])
    it(`migrations do not need compatible_since: ${statement}`, () =>
      assert.deepEqual(contractStepsOf({ statements: [statement] }), []));

  const migration = (name: string, compatibleSince?: string, statements = ["SELECT 1;"]): Migration => ({
    name,
    when: 0,
    digest: "",
    statements,
    compatibleSince,
  });
  for (const [title, migrations, problems] of [
    [
      "unmarked",
      [migration("1", undefined, ["DROP TABLE a;"])],
      ["1: DROP of anything but an index, without compatible_since"],
    ],
    ["its own migration", [migration("1", "1")], ["1: compatible_since must name a migration before it"]],
    ["a later one", [migration("1", "2"), migration("2")], ["1: compatible_since must name a migration before it"]],
    [
      "one before that of an earlier contract step",
      [migration("1"), migration("2", "1"), migration("3", "0")],
      ["3: compatible_since must not be earlier than that of a migration before it"],
    ],
  ] as const)
    it(`migrations are rejected: ${title}`, () =>
      assert.deepEqual(problemsOf([migration("0"), ...migrations]), problems));
});
