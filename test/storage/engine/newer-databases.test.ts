// A program on a database that a later version has migrated, and the ways to migrate one.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, describe, it } from "node:test";
import BetterSqlite from "better-sqlite3";
import pg from "pg";
import { openDatabase, pendingMigrationsOf } from "../../../src/storage/database.ts";
import { defaultDatabaseLimits } from "../../../src/storage/engine/dialect.ts";
import { DatabaseVersionMismatch } from "../../../src/storage/engine/errors.ts";
import type { MigrationListener, OpenMode } from "../../../src/storage/engine/migrations.ts";
import { newHosts } from "../../../src/storage/engine/postgres/hosts.ts";
import { migratePostgres } from "../../../src/storage/engine/postgres/migrate.ts";
import { readSetting, writeSetting } from "../../../src/storage/engine/settings.ts";
import { migrateFile } from "../../../src/storage/engine/sqlite/migrate-file.ts";
import { databases } from "../../harness/databases.ts";
import { newPostgresDatabase, stopPostgres } from "../../harness/postgres.ts";
import { write } from "../fixtures.ts";
import { contract, copyMigrations, expand } from "./migration-folder.ts";

after(stopPostgres);
const files = mkdtempSync(path.join(tmpdir(), "gatehouse-newer-"));
after(() => rmSync(files, { recursive: true }));

interface Dialect {
  readonly name: "sqlite" | "postgres";
  newUrl(): Promise<string>;
  migrate(url: string, folder: string, mode: OpenMode, listener: MigrationListener): Promise<void>;
}

let count = 0;
const dialects: readonly Dialect[] = [
  {
    name: "sqlite",
    newUrl: async () => path.join(files, `${count++}.db`),
    async migrate(url, folder, mode, listener) {
      const connection = new BetterSqlite(url);
      try {
        migrateFile(connection, mode, listener, folder);
      } finally {
        connection.close();
      }
    },
  },
  {
    name: "postgres",
    newUrl: () => newPostgresDatabase(),
    async migrate(url, folder, mode, listener) {
      const hosts = newHosts(url, defaultDatabaseLimits);
      await migratePostgres({ hosts, limits: defaultDatabaseLimits, folder }, mode, listener);
    },
  },
];

for (const dialect of dialects.filter(({ name }) => databases.includes(name))) {
  const namesAppliedBy = async (url: string, folder: string, mode: OpenMode = "create") => {
    const names: string[] = [];
    await dialect.migrate(url, folder, mode, (applied) => names.push(...applied.map(({ name }) => name)));
    return names;
  };

  describe(`a database of a newer version, ${dialect.name}`, () => {
    it("is used, also after a restart, until a contract step removes what this version uses", async () => {
      using folder = copyMigrations(dialect.name);
      const url = await dialect.newUrl();
      const running = await openDatabase(url, defaultDatabaseLimits);
      folder.add(expand);
      assert.deepEqual(await namesAppliedBy(url, folder.path), [expand[0]]);
      await write(running, (tx) => writeSetting(tx, "colour", "red"));
      const restarted = await openDatabase(url, defaultDatabaseLimits);
      assert.equal(await readSetting(restarted.session, "colour"), "red");
      await restarted.close();
      assert.deepEqual(await pendingMigrationsOf(url, defaultDatabaseLimits), []);

      folder.add(contract);
      assert.deepEqual(await namesAppliedBy(url, folder.path), [contract[0]]);
      await running.close();
      for (const mode of ["create", "existing", "migrated"] as const)
        await assert.rejects(
          openDatabase(url, defaultDatabaseLimits, mode),
          new DatabaseVersionMismatch(
            "was written by a newer version of Gatehouse, and only versions with migration 0001_expand can use it; start such a version or restore a backup",
          ),
        );
    });
  });

  describe(`pending migrations, ${dialect.name}`, () => {
    it("are listed without being applied, and are all of them for a new database", async () => {
      const url = await dialect.newUrl();
      const list = async () => (await pendingMigrationsOf(url, defaultDatabaseLimits)).map(({ name }) => name);
      const all = await list();
      assert.equal(all[0], "0000_initial");
      assert.deepEqual(await list(), all);
      await (await openDatabase(url, defaultDatabaseLimits)).close();
      assert.deepEqual(await list(), []);
    });

    it("are applied one by one, each in its own transaction: those before a failure stay", async () => {
      using folder = copyMigrations(dialect.name);
      const url = await dialect.newUrl();
      await namesAppliedBy(url, folder.path);
      folder.add(expand, [
        "0002_broken",
        "CREATE TABLE things (name text);--> statement-breakpoint\nSELECT no_such_thing;",
      ]);
      await assert.rejects(namesAppliedBy(url, folder.path), /no_such_thing/);
      using mended = copyMigrations(dialect.name);
      mended.add(expand, ["0002_mended", "CREATE TABLE things (name text);"]);
      assert.deepEqual(await namesAppliedBy(url, mended.path), ["0002_mended"]);
    });

    it("reject the database if the mode does not let them be applied", async () => {
      using folder = copyMigrations(dialect.name);
      const url = await dialect.newUrl();
      await namesAppliedBy(url, folder.path);
      assert.deepEqual(await namesAppliedBy(url, folder.path, "migrated"), []);
      folder.add(expand);
      await assert.rejects(
        namesAppliedBy(url, folder.path, "migrated"),
        /^DatabaseVersionMismatch: lacks migrations \(0001_expand\)/,
      );
      assert.deepEqual(await namesAppliedBy(url, folder.path, "existing"), [expand[0]]);
    });
  });
}

describe("a migration on PostgreSQL", () => {
  it("does not hold up statements behind the lock that it waits for, and is applied once it gets it", async () => {
    using folder = copyMigrations("postgres");
    const url = await newPostgresDatabase();
    await (await openDatabase(url, defaultDatabaseLimits)).close();
    folder.add(expand);
    const [holder, reader] = [new pg.Client(url), new pg.Client(url)];
    await Promise.all([holder.connect(), reader.connect()]);
    await holder.query("BEGIN; SELECT * FROM settings");
    const names: string[] = [];
    const migrated = migratePostgres(
      {
        hosts: newHosts(url, defaultDatabaseLimits),
        limits: { ...defaultDatabaseLimits, lockTimeoutMs: 1000 },
        folder: folder.path,
      },
      "existing",
      (applied) => names.push(...applied.map(({ name }) => name)),
    );
    const waiting = "SELECT 1 FROM pg_locks WHERE NOT granted AND mode = 'AccessExclusiveLock'";
    while ((await reader.query(waiting)).rowCount === 0);
    // Returns although the holder keeps its lock.
    await reader.query("SELECT * FROM settings");
    assert.deepEqual(names, []);
    await holder.query("COMMIT");
    await migrated;
    assert.deepEqual(names, [expand[0]]);
    await Promise.all([holder.end(), reader.end()]);
  });
});
