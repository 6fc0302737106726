// db backup, db restore and db copy, as a person runs them.
import assert from "node:assert/strict";
import type { ChildProcess } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { setTimeout } from "node:timers/promises";
import BetterSqlite from "better-sqlite3";
import pg from "pg";
import { generate } from "../../bench/generate.ts";
import { freePort, newPostgresDatabase, stopPostgres } from "../harness/postgres.ts";
import { rest } from "../harness/rest.ts";
import { dataDirectory, type Finished, start } from "./process.ts";
import { runInTurn as run } from "./resident.ts";

/** The data directory that the tests copy, with so many groups. */
const source = dataDirectory();
const groups = 300;

const sourceFile = path.join(source.path, "gatehouse.db");
/** A copy in PostgreSQL. */
let copyUrl: string;

describe("copies of databases", () => {
  before(async () => {
    await generate(source.path, { groups, seed: "copies" }, () => {});
    copyUrl = await newPostgresDatabase();
    assert.equal((await run(["db", "copy", "--data-dir", source.path, "--to", copyUrl])).code, 0);
  });

  after(async () => {
    source[Symbol.dispose]();
    await stopPostgres();
  });

  const agree = /rows: counters and indexes agree with them\n/;
  const copied = /: \d+ rows of \d+ tables, as many as in the source\n$/;
  const unfinished =
    /is not complete: "gatehouse db (copy|restore)" has not finished there; run that command again, which starts over\./;

  async function serve(...args: string[]): Promise<Finished> {
    const listen = `127.0.0.1:${await freePort()}`;
    return await start(["serve", "--base-url", "https://iam.test", "--listen", listen, ...args]).finished;
  }

  /** Returns the uids and the totals of all groups. */
  async function groupsOf(database: string): Promise<unknown[]> {
    const sql = [
      "SELECT uid, name FROM groups ORDER BY uid",
      "SELECT key, kind, count FROM counters ORDER BY key, kind",
    ];
    if (!database.startsWith("postgres:")) {
      const file = new BetterSqlite(database, { readonly: true });
      const rows = sql.map((each) => file.prepare(each).all());
      file.close();
      return rows;
    }
    const client = await connected(database);
    const rows = [];
    for (const each of sql)
      rows.push(
        (await client.query(each)).rows.map((row) => ("count" in row ? { ...row, count: Number(row.count) } : row)),
      );
    await client.end();
    return rows;
  }

  async function connected(url: string): Promise<pg.Client> {
    const client = new pg.Client(url);
    await client.connect();
    return client;
  }

  /**
   * Starts `db copy`, and calls `interrupt` while it waits for a table that another session has locked in this mode. Returns how the
   * command ended.
   */
  async function interrupted(
    { locked, mode, args }: { locked: string; mode: string; args: readonly string[] },
    interrupt: (command: ChildProcess, watcher: pg.Client) => unknown,
  ): Promise<Finished> {
    const [blocker, watcher] = [await connected(locked), await connected(locked)];
    await blocker.query(`BEGIN; LOCK TABLE groups IN ${mode} MODE`);
    const { child, finished } = start(["db", "copy", ...args]);
    const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'gatehouse'
    AND wait_event_type = 'Lock'`;
    while ((await watcher.query(waiting)).rows.length === 0) await setTimeout(10);
    await interrupt(child, watcher);
    const ending = await finished;
    await Promise.all([blocker.end(), watcher.end()]);
    return ending;
  }

  describe("db copy", () => {
    it("copies to PostgreSQL, from there to PostgreSQL, and back to SQLite", async () => {
      using data = dataDirectory();
      const expected = await groupsOf(sourceFile);
      assert.deepEqual(await groupsOf(copyUrl), expected);
      const second = await newPostgresDatabase();
      const back = path.join(data.path, "new", "back.db");
      for (const [from, to] of [[copyUrl, second] as const, [second, back] as const]) {
        const { code, stdout, stderr } = await run(["db", "copy", "--database-url", from, "--to", to]);
        assert.match(stdout, agree);
        assert.match(stdout, copied);
        assert.deepEqual([code, stderr], [0, ""]);
      }
      assert.deepEqual([readdirSync(path.dirname(back)), statSync(back).mode & 0o777], [["back.db"], 0o600]);
      for (const copy of [second, back]) assert.deepEqual(await groupsOf(copy), expected);
    });

    it("rejects a target with rows, and leaves it", async () => {
      const itself = await run(["db", "copy", "--data-dir", source.path, "--to", sourceFile]);
      assert.match(itself.stderr, /^gatehouse: --to: is the database to copy\.\n$/);
      assert.deepEqual([itself.code, itself.stdout], [2, ""]);
      const { code, stderr } = await run(["db", "copy", "--data-dir", source.path, "--to", copyUrl]);
      assert.match(
        stderr,
        /^gatehouse: postgres:\/\/127\.0\.0\.1:\d+\/\w+ is not empty: it has rows in groups, .*\n {2}Name an empty or a new database\.\n$/,
      );
      assert.equal(code, 1);
      assert.deepEqual(await groupsOf(copyUrl), await groupsOf(sourceFile));
    });

    it("names --to in errors, without the password", async () => {
      const unreachable = `postgres://u:canary@127.0.0.1:${await freePort()}/x`;
      for (const [to, said] of [
        ["mysql://x", /^gatehouse: --to: mysql:\/\/ is not postgres:\/\/, and no path of a SQLite file\.\n$/],
        [
          unreachable,
          /^gatehouse: --to: no connection to postgres:\/\/127\.0\.0\.1:\d+\/x could be had: connect ECONNREFUSED/,
        ],
      ] as const) {
        const { code, stderr } = await run(["db", "copy", "--data-dir", source.path, "--to", to]);
        assert.match(stderr, said);
        assert.equal(code, 2);
        assert.equal(stderr.includes("canary"), false);
      }
    });

    it("leaves a PostgreSQL database that no server starts on when it is interrupted, and starts over", async () => {
      const url = await newPostgresDatabase();
      const args = ["--data-dir", source.path, "--to", url];
      assert.equal((await run(["db", "copy", ...args])).code, 0);
      const client = await connected(url);
      await client.query("INSERT INTO settings VALUES ('unfinished_copy', 'db copy')");
      await client.end();
      const blocked = { locked: url, mode: "ACCESS SHARE", args };
      await interrupted(blocked, (command) => command.kill("SIGKILL"));
      const { code, stderr } = await serve("--database-url", url);
      assert.match(stderr, unfinished);
      assert.equal(code, 2);
      const lost = await interrupted(blocked, (_command, watcher) =>
        watcher.query(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
        ),
      );
      assert.match(
        lost.stderr,
        /^gatehouse: the copy of \/.*gatehouse\.db to postgres:\/\/\S+ failed: terminating connection due to administrator command\n/,
      );
      assert.equal(lost.code, 1);
      assert.match((await run(["db", "check", "--database-url", url])).stderr, unfinished);
      const again = await run(["db", "copy", ...args]);
      assert.deepEqual([again.code, again.stderr], [0, ""]);
      assert.deepEqual(await groupsOf(url), await groupsOf(sourceFile));
    });

    it("leaves a SQLite database that no server starts on when it is interrupted, and starts over", async () => {
      using data = dataDirectory();
      const target = path.join(data.path, "gatehouse.db");
      const args = ["--database-url", copyUrl, "--to", target];
      for (const signal of ["SIGINT", "SIGKILL"] as const) {
        await interrupted({ locked: copyUrl, mode: "ACCESS EXCLUSIVE", args }, (command) => command.kill(signal));
        const own = ["", "-lock", "-lock-journal"].map((suffix) => `gatehouse.db.new${suffix}`);
        const left = signal === "SIGKILL" ? ["gatehouse.db", ...own] : ["gatehouse.db"];
        assert.deepEqual(readdirSync(data.path), left);
      }
      assert.match((await serve("--data-dir", data.path)).stderr, unfinished);
      assert.equal((await run(["db", "copy", ...args])).code, 0);
      assert.deepEqual(readdirSync(data.path), ["gatehouse.db"]);
      assert.deepEqual(await groupsOf(target), await groupsOf(copyUrl));
    });
  });

  describe("db backup", () => {
    it("writes a database that only its owner can read, and never over another file", async () => {
      using data = dataDirectory();
      const file = path.join(data.path, "backup.db");
      const { code, stdout } = await run(["db", "backup", file, "--data-dir", source.path]);
      assert.match(stdout, copied);
      assert.deepEqual([code, statSync(file).mode & 0o777, readdirSync(data.path)], [0, 0o600, ["backup.db"]]);
      assert.equal((await run(["db", "check", "--database-url", file])).code, 0);
      const before = readFileSync(file);
      const again = await run(["db", "backup", file, "--data-dir", source.path]);
      assert.equal(again.stderr, `gatehouse: ${file} exists\n  Name a new file, or move that one away.\n`);
      assert.equal(again.code, 1);
      assert.deepEqual(readFileSync(file), before);
      writeFileSync(path.join(data.path, "other.db.new"), "");
      const foreign = await run(["db", "backup", path.join(data.path, "other.db"), "--data-dir", source.path]);
      assert.match(
        foreign.stderr,
        /other\.db\.new exists: another command is writing it, or it is a file of yours\n {2}Delete it/,
      );
    });

    it("takes over what a killed command left of the same backup, unless another one writes it", async () => {
      using data = dataDirectory();
      const file = path.join(data.path, "backup.db");
      writeFileSync(`${file}.new`, "half of a backup");
      const lock = new BetterSqlite(`${file}.new-lock`);
      lock.exec("BEGIN IMMEDIATE");
      const blocked = await run(["db", "backup", file, "--data-dir", source.path]);
      assert.match(blocked.stderr, /backup\.db\.new exists: another command is writing it/);
      assert.equal(readFileSync(`${file}.new`, "utf8"), "half of a backup");
      lock.close();
      const { code } = await run(["db", "backup", file, "--data-dir", source.path]);
      assert.deepEqual([code, readdirSync(data.path)], [0, ["backup.db"]]);
      assert.equal((await run(["db", "check", "--database-url", file])).code, 0);
    });

    it("is a snapshot of a server that goes on writing", async () => {
      using data = dataDirectory();
      const listen = `127.0.0.1:${await freePort()}`;
      const server = start(["serve", "--dev", "--data-dir", data.path, "--listen", listen, "--log-level", "warn"]);
      await server.said(/owner-token/);
      const token = readFileSync(path.join(data.path, "owner-token"), "utf8");
      let created = 0;
      let isDone = false;
      const writer = async () => {
        while (!isDone) {
          const { status } = await rest(`http://${listen}`, token, "POST", "/iam/v2beta1/groups", {
            name: `group ${created}`,
          });
          assert.equal(status, 200);
          created++;
        }
      };
      const writers = [writer(), writer(), writer(), writer()];
      const backup = path.join(data.path, "backup.db");
      const url = await newPostgresDatabase();
      const results = [
        await run(["db", "backup", backup, "--data-dir", data.path]),
        await run(["db", "copy", "--to", url, "--data-dir", data.path]),
      ];
      isDone = true;
      await Promise.all(writers);
      server.child.kill("SIGTERM");
      assert.equal((await server.finished).code, 0);
      assert.deepEqual(
        results.map(({ code, stderr }) => [code, stderr]),
        [
          [0, ""],
          [0, ""],
        ],
      );
      assert.ok(created > 20, String(created));
      for (const database of [backup, url]) {
        const check = await run(["db", "check", "--database-url", database]);
        assert.match(check.stdout, agree);
      }
    });
  });

  describe("db restore", () => {
    it("fills either database from a backup of the other, secrets included", async () => {
      using data = dataDirectory();
      const url = await newPostgresDatabase();
      const key = ["--secrets-key", Buffer.alloc(32, 7).toString("base64")];
      const owner = ["--organization", "acme", "--issuer", "https://idp.test", "--subject", "alice"];
      const old = ["--data-dir", path.join(data.path, "old"), ...key];
      assert.equal((await run(["bootstrap", ...old, ...owner])).code, 0);
      assert.equal((await run(["keys", "rotate", ...old])).code, 0);
      const [first, second] = [path.join(data.path, "1.db"), path.join(data.path, "2.db")];
      const restored = ["--data-dir", path.join(data.path, "restored"), ...key];
      for (const command of [
        ["backup", first, ...old],
        ["restore", first, "--database-url", url, ...key],
        ["backup", second, "--database-url", url, ...key],
        ["restore", second, ...restored],
      ]) {
        const { code, stderr } = await run(["db", ...command]);
        assert.deepEqual([code, stderr], [0, ""]);
      }
      const keys = (settings: string[]) => run(["keys", "list", ...settings]);
      assert.deepEqual(await keys(restored), await keys(old));
      const other = ["--secrets-key", Buffer.alloc(32, 8).toString("base64")];
      const undecrypted = await run(["db", "restore", second, "--data-dir", path.join(data.path, "other"), ...other]);
      assert.match(undecrypted.stdout, /is encrypted with the key \w+, which secrets-key does not have\n/);
      assert.equal(undecrypted.code, 1);
    });

    it("rejects files other than backups, and databases with rows", async () => {
      using data = dataDirectory();
      const target = ["--data-dir", path.join(data.path, "target")];
      writeFileSync(path.join(data.path, "text"), "no database, but long enough for one".repeat(100));
      writeFileSync(path.join(data.path, "empty"), "");
      for (const [name, said] of [
        ["missing", /^gatehouse: there is no file \/.*missing\n$/],
        ["text", /^gatehouse: \/.*text cannot be read: file is not a database\n$/],
        ["empty", /^gatehouse: \/.*empty is not a database of Gatehouse\n$/],
      ] as const) {
        const { code, stderr } = await run(["db", "restore", path.join(data.path, name), ...target]);
        assert.match(stderr, said);
        assert.equal(code, 1);
        assert.equal(existsSync(path.join(data.path, "target")), false);
      }
      const backup = path.join(data.path, "backup.db");
      assert.equal((await run(["db", "backup", backup, "--data-dir", source.path])).code, 0);
      assert.equal((await run(["db", "restore", backup, ...target])).code, 0);
      const again = await run(["db", "restore", backup, ...target]);
      assert.match(again.stderr, /^gatehouse: \/.*gatehouse\.db is not empty: it has rows in groups, /);
      assert.equal(again.code, 1);
    });
  });
});
