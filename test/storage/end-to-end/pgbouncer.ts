// `npm run suites -- database`: a server behind PgBouncer, which gives each transaction another session.
import assert from "node:assert/strict";
import { rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import pg from "pg";
import { type Database, openDatabase } from "../../../src/storage/database.ts";
import { defaultDatabaseLimits } from "../../../src/storage/engine/dialect.ts";
import { driverCode, StorageUnavailable } from "../../../src/storage/engine/errors.ts";
import { newHosts } from "../../../src/storage/engine/postgres/hosts.ts";
import { openPool } from "../../../src/storage/engine/postgres/pool.ts";
import { readSetting } from "../../../src/storage/engine/settings.ts";
import {
  type DebianServer,
  giveToPostgres,
  newServerDirectory,
  spawnUnprivileged,
  startDebianPostgres,
} from "../../harness/debian-postgres.ts";
import { freePort } from "../../harness/postgres.ts";
import { rest } from "../../harness/rest.ts";
import { startTestServer } from "../../harness/server.ts";
import { untilTrue } from "../../harness/until.ts";
import { skipWithout } from "./programs.ts";

skipWithout("postgres", "pgbouncer");

/** Starts PgBouncer before a server, and returns its port. */
async function startPgBouncer(opened: AsyncDisposableStack, { port: target }: DebianServer): Promise<number> {
  const port = await freePort();
  const directory = newServerDirectory();
  const file = path.join(directory, "pgbouncer.ini");
  const settings = [
    "[databases]",
    `* = host=127.0.0.1 port=${target} user=postgres`,
    "[pgbouncer]",
    `listen_addr = 127.0.0.1\nlisten_port = ${port}\nunix_socket_dir =`,
    "auth_type = any\npool_mode = transaction\ndefault_pool_size = 8\nmax_client_conn = 200",
  ];
  writeFileSync(file, settings.join("\n"));
  giveToPostgres(file);
  const child = spawnUnprivileged("/usr/sbin/pgbouncer", [file], directory);
  const ended = new Promise((resolve) => child.once("exit", resolve));
  opened.defer(async () => {
    child.kill("SIGTERM");
    await ended;
    rmSync(directory, { recursive: true });
  });
  await untilTrue(async () => {
    const client = new pg.Client(`postgres://postgres@127.0.0.1:${port}/postgres`);
    await client.connect();
    await client.end();
    return true;
  });
  return port;
}

describe("a server behind PgBouncer with pool_mode = transaction", () => {
  const opened = new AsyncDisposableStack();
  let server: DebianServer;
  let port: number;
  before(async () => {
    server = opened.use(await startDebianPostgres());
    port = await startPgBouncer(opened, server);
  });
  after(() => opened.disposeAsync());

  async function newDatabase(name: string): Promise<string> {
    await server.query(`CREATE DATABASE ${name}`);
    return `postgres://postgres@127.0.0.1:${port}/${name}`;
  }

  it("migrates once, writes, reads and lists", async () => {
    const databaseUrl = await newDatabase("served");
    await using one = await startTestServer({ settings: { databaseUrl, databasePooling: "transaction" } });
    const { baseUrl, dataDir } = one.config;
    await using other = await startTestServer({
      settings: { databaseUrl, databasePooling: "transaction", baseUrl, dataDir, databasePoolSize: "4" },
    }).catch(() => assert.fail("a second server did not start"));
    const parent = `/iam/v2beta1/groups/${one.groupUid}`;
    const call = (index: number, method: string, target: string, body?: unknown) =>
      rest((index % 2 === 0 ? one : other).url, one.ownerToken, method, target, body);
    const created = await Promise.all(
      Array.from({ length: 200 }, (_, index) => call(index, "POST", parent, { name: `group ${index}` })),
    );
    assert.deepEqual([...new Set(created.map(({ status }) => status))], [200]);
    const read = await Promise.all(
      created.map(({ body }, index) => call(index + 1, "GET", `/iam/v2beta1/groups/${body.uid}`)),
    );
    assert.deepEqual(
      read.map(({ body }) => body.name),
      created.map(({ body }) => body.name),
    );
    const [row] = await server.query("SELECT count(*)::int AS count FROM groups WHERE name LIKE 'group %'", "served");
    assert.equal(row?.count, 200);
  });

  it("sets the timeouts of each transaction, and leaves those of the shared sessions alone", async () => {
    const databaseUrl = await newDatabase("timed");
    const limits = { ...defaultDatabaseLimits, sharesSessions: true, statementTimeoutMs: 7000, lockTimeoutMs: 1234 };
    const shown = async (client: pg.ClientBase) => {
      const { rows } = await client.query(
        "SELECT name, setting FROM pg_settings WHERE name IN ('statement_timeout', 'lock_timeout', 'enable_bitmapscan') ORDER BY 1",
      );
      return rows.map(({ setting }) => setting);
    };
    const { read, write, pool, close } = openPool(newHosts(databaseUrl, limits), limits);
    assert.deepEqual(await read(shown), ["off", "1234", "7000"]);
    assert.deepEqual(await write(shown, { lockTimeoutMs: 200 }), ["off", "200", "7000"]);
    const client = await pool.connect();
    assert.deepEqual(await shown(client), ["on", "0", "0"]);
    client.release();
    await close();
  });

  it("says which setting is missing", async () => {
    const databaseUrl = await newDatabase("unset");
    const open = async () => {
      const databases = await Promise.all([1, 2].map(() => openDatabase(databaseUrl, defaultDatabaseLimits)));
      try {
        const read = ({ read }: Database) => read((session) => readSetting(session, "any"));
        for (let round = 0; round < 20; round++)
          await Promise.all(Array.from({ length: 16 }, (_, index) => read(databases[index % 2]!)));
      } finally {
        for (const database of databases) await database.close();
      }
    };
    await assert.rejects(open, (error) => {
      assert.ok(error instanceof StorageUnavailable, String(error));
      assert.match(driverCode(error) ?? "", /^(26000|42P05)$/);
      assert.match(error.message, /set database-pooling to transaction$/);
      return true;
    });
  });
});
