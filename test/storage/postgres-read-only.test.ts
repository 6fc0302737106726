// PostgreSQL at an address that leads to a read-only server: a standby, or a primary made read-only.
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import pg from "pg";
import { defaultDatabaseLimits } from "../../src/storage/engine/dialect.ts";
import { StorageReadOnly, StorageUnavailable } from "../../src/storage/engine/errors.ts";
import { openPool } from "../../src/storage/engine/postgres/pool.ts";
import { newPostgresDatabase, startStandby, stopPostgres } from "../harness/postgres.ts";
import { openPostgresProxy } from "../harness/postgres-proxy.ts";
import { rest } from "../harness/rest.ts";
import { startTestServer } from "../harness/server.ts";

after(stopPostgres);

const writeTable = (client: pg.PoolClient) => client.query("CREATE TABLE IF NOT EXISTS written (i int)");

/** Waits until a condition holds, for any time. */
async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 20));
}

describe("a server on a database that is made read-only", () => {
  it("serves reads, says why it is not ready, and writes again once the database is writable", async () => {
    const databaseUrl = await newPostgresDatabase();
    await using server = await startTestServer({ settings: { databaseUrl } });
    const admin = new pg.Client({ connectionString: databaseUrl });
    await admin.connect();
    const { rows } = await admin.query("SELECT current_database() AS name");
    const setReadOnly = async (value: string) => {
      await admin.query(`ALTER DATABASE ${rows[0].name} ${value}`);
      // Like a restarted server: sessions keep their initial settings.
      await admin.query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
      );
    };
    const group = `/iam/v2beta1/groups/${server.groupUid}`;
    const read = async () => (await rest(server.url, server.ownerToken, "GET", group)).status;
    const write = async (name: string) => rest(server.url, server.ownerToken, "POST", group, { name });
    const ready = async () => {
      const reply = await fetch(`${server.url}/readyz`);
      return [reply.status, await reply.text()];
    };
    assert.deepEqual(await ready(), [200, "ready\n"]);

    await setReadOnly("SET default_transaction_read_only = on");
    await until(async () => (await read()) === 200);
    for (let i = 0; i < 3; i++) {
      const { status, body } = await write("refused");
      assert.deepEqual([status, body.message], [503, "Unavailable: the database cannot be written now"]);
      assert.equal(await read(), 200);
      assert.deepEqual(await ready(), [
        503,
        "not ready to write, reads are served: the database server accepts no writes\n",
      ]);
    }

    // Connections made meanwhile stay read-only.
    await admin.query(`ALTER DATABASE ${rows[0].name} RESET default_transaction_read_only`);
    await new Promise((resolve) => setTimeout(resolve, 150));
    assert.equal((await write("written")).status, 200);
    assert.deepEqual(await ready(), [200, "ready\n"]);
    await admin.end();
  });
});

describe("a pool", () => {
  it("repeats a rejected write on a new connection, and drops all older ones", async () => {
    const { pool, write, check, close } = openPool(await newPostgresDatabase(), defaultDatabaseLimits);
    const clients = await Promise.all(Array.from({ length: 3 }, () => pool.connect()));
    for (const client of clients) await client.query("SET default_transaction_read_only = on");
    for (const client of clients) client.release();
    let runs = 0;
    await write("BEGIN", async (client) => {
      runs++;
      await writeTable(client);
    });
    assert.equal(runs, 2);
    for (let i = 0; i < 3; i++) await check();
    const { rows } = await pool.query("SHOW transaction_read_only");
    assert.deepEqual(rows, [{ transaction_read_only: "off" }]);
    await close();
  });

  it("detects a connection that became read-only by a health check, too", async () => {
    const { pool, check, close } = openPool(await newPostgresDatabase(), defaultDatabaseLimits);
    await pool.query("SET default_transaction_read_only = on");
    await check();
    const { rows } = await pool.query("SHOW transaction_read_only");
    assert.deepEqual(rows, [{ transaction_read_only: "off" }]);
    await close();
  });

  it("does not use a standby, and uses the primary once the address leads there", async () => {
    await using standby = await startStandby();
    await using proxy = await openPostgresProxy((await newPostgresDatabase()).replace(/[^/]*$/, "postgres"));
    const primary = proxy.target;
    const { pool, write, check, close } = openPool(proxy.url, defaultDatabaseLimits);
    const isRefused = (error: unknown) =>
      error instanceof StorageUnavailable &&
      !(error instanceof StorageReadOnly) &&
      error.message === "the database server is a standby";
    proxy.target = standby.port;
    for (let i = 0; i < 2; i++) {
      await assert.rejects(pool.query("SELECT 1"), isRefused);
      await assert.rejects(write("BEGIN", writeTable), isRefused);
      await assert.rejects(check(), isRefused);
    }
    proxy.target = primary;
    await check();
    await write("BEGIN", (client) => client.query("CREATE TEMPORARY TABLE written (i int)"));
    await close();
  });
});
