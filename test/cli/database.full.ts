// Databases that the server and its commands cannot use, and how they say so.
import assert from "node:assert/strict";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import BetterSqlite from "better-sqlite3";
import pg from "pg";
import { openDatabase } from "../../src/storage/database.ts";
import { defaultDatabaseLimits } from "../../src/storage/engine/dialect.ts";
import { freePort, newPostgresDatabase } from "../harness/postgres.ts";
import { dataDirectory, run } from "./process.ts";

const commands = [
  ["db", "check"],
  ["keys", "list"],
  ["keys", "rotate"],
];
const serve = ["serve", "--base-url", "https://iam.test"];

/** Returns what a command printed, without the first line of `serve`, which says that the start has begun. */
const withoutStart = (stdout: string) => stdout.replace("Starting Gatehouse…\n", "");

describe("a command on a database that is not there", () => {
  for (const command of commands) {
    it(`${command.join(" ")} creates no SQLite database`, async () => {
      using data = dataDirectory();
      const { code, stderr, stdout } = await run([...command, "--data-dir", path.join(data.path, "new")]);
      assert.match(stderr, /^gatehouse: data-dir: there is no database of Gatehouse at \/.*new\/gatehouse\.db\.\n$/);
      assert.deepEqual([code, withoutStart(stdout), readdirSync(data.path)], [2, "", []]);
      const named = await run([...command, "--database-url", path.join(data.path, "x.db")]);
      assert.match(named.stderr, /^gatehouse: database-url: there is no database of Gatehouse at \/.*x\.db\.\n$/);
    });
  }

  it("db check creates no database in PostgreSQL", async () => {
    const url = await newPostgresDatabase();
    for (let round = 0; round < 2; round++) {
      const { code, stderr } = await run(["db", "check", "--database-url", url]);
      assert.match(stderr, /^gatehouse: database-url: there is no database of Gatehouse at postgres:\/\/[^@]+\.\n$/);
      assert.equal(code, 2);
    }
  });
});

const older =
  /^gatehouse: data(-dir|base-url): (\/.*gatehouse\.db|postgres:\/\/127\.0\.0\.1:\d+\/\w+) was written by an older version of Gatehouse that this one cannot migrate; start commit d01e5454 of its repository \(d01e5454[0-9a-f]{32}\) once, then this version\.\n$/;

async function olderFile(folder: string): Promise<string[]> {
  const file = path.join(folder, "gatehouse.db");
  await (await openDatabase(file, defaultDatabaseLimits)).close();
  new BetterSqlite(file).exec("UPDATE __drizzle_migrations SET created_at = 1").close();
  return ["--data-dir", folder];
}

async function olderPostgres(): Promise<string[]> {
  const url = await newPostgresDatabase();
  await (await openDatabase(url, defaultDatabaseLimits)).close();
  const client = new pg.Client(url);
  await client.connect();
  await client.query("UPDATE __drizzle_migrations SET created_at = 1");
  await client.end();
  return ["--database-url", url];
}

describe("a database that an older version has written", () => {
  for (const [name, make] of [["SQLite", olderFile] as const, ["PostgreSQL", olderPostgres] as const]) {
    it(`is rejected by db check as by a server, ${name}`, async () => {
      using data = dataDirectory();
      const { code, stdout, stderr } = await run(["db", "check", ...(await make(data.path))]);
      assert.match(stderr, older);
      assert.deepEqual([code, withoutStart(stdout)], [2, ""]);
    });
  }
});

describe("a database that cannot be used", () => {
  const cases: [what: string, make: (folder: string) => string[] | Promise<string[]>, said: RegExp][] = [
    [
      "a data directory below a file",
      (folder) => {
        writeFileSync(path.join(folder, "file"), "");
        return ["--data-dir", path.join(folder, "file", "data")];
      },
      /^gatehouse: data-dir: \/.*file\/data\/gatehouse\.db cannot be opened: E(NOTDIR|EXIST): /,
    ],
    [
      "a file that is not a database",
      (folder) => {
        writeFileSync(path.join(folder, "gatehouse.db"), "no database, but long enough for one".repeat(100));
        return ["--data-dir", folder];
      },
      /^gatehouse: data-dir: \/.*gatehouse\.db cannot be used as a database: file is not a database\.\n$/,
    ],
    [
      "a directory in the place of the file",
      (folder) => {
        mkdirSync(path.join(folder, "x.db"));
        return ["--database-url", path.join(folder, "x.db")];
      },
      /^gatehouse: database-url: \/.*x\.db cannot be used as a database: unable to open database file\.\n$/,
    ],
    [
      "a file that a newer version has written",
      async (folder) => {
        const file = path.join(folder, "gatehouse.db");
        await (await openDatabase(file, defaultDatabaseLimits)).close();
        const database = new BetterSqlite(file);
        database.exec("INSERT INTO __drizzle_migrations (hash, created_at) VALUES ('later', 99999999999999)");
        database.exec("INSERT INTO settings VALUES ('compatible_since', '0099_later')");
        database.close();
        return ["--data-dir", folder];
      },
      /^gatehouse: data-dir: \/.*gatehouse\.db was written by a newer version of Gatehouse, and only versions with migration 0099_later can use it; start such a version or restore a backup\.\n$/,
    ],
    ["a file that an older version has written", olderFile, older],
    ["a PostgreSQL database that an older version has written", olderPostgres, older],
    [
      "PostgreSQL that does not answer",
      async () => ["--database-url", `postgres://u:canary@127.0.0.1:${await freePort()}/gatehouse`],
      /^gatehouse: database-url: no connection to postgres:\/\/127\.0\.0\.1:\d+\/gatehouse could be had: connect ECONNREFUSED/,
    ],
    [
      "an invalid address of PostgreSQL",
      () => ["--database-url", "postgres://u:canary@[/x"],
      /^gatehouse: database-url: is not a valid URL; percent-encode special characters .*\n$/,
    ],
  ];
  for (const [what, make, said] of cases) {
    it(`is named with its setting, and no password: ${what}`, async () => {
      using data = dataDirectory();
      const { code, stdout, stderr } = await run([...serve, ...(await make(data.path))]);
      assert.match(stderr, said);
      assert.doesNotMatch(stderr, /canary/);
      assert.deepEqual([code, withoutStart(stdout)], [2, ""]);
    });
  }
});
