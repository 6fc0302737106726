// PostgreSQL at an address that leads to a read-only server: a standby, or a primary made read-only.
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import type pg from "pg";
import { openDatabase } from "../../src/storage/database.ts";
import { defaultDatabaseLimits } from "../../src/storage/engine/dialect.ts";
import { StorageReadOnly, StorageUnavailable } from "../../src/storage/engine/errors.ts";
import { newHosts } from "../../src/storage/engine/postgres/hosts.ts";
import { openPool } from "../../src/storage/engine/postgres/pool.ts";
import { freePort, newPostgresDatabase, startStandby, stopPostgres } from "../harness/postgres.ts";
import { openPostgresProxy } from "../harness/postgres-proxy.ts";
import { openReadOnlySwitch } from "../harness/read-only.ts";
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
    await using readOnly = await openReadOnlySwitch(databaseUrl);
    const group = `/iam/v2beta1/groups/${server.groupUid}`;
    const read = async () => (await rest(server.url, server.ownerToken, "GET", group)).status;
    const write = async (name: string) => rest(server.url, server.ownerToken, "POST", group, { name });
    const ready = async () => {
      const reply = await fetch(`${server.url}/readyz`);
      return [reply.status, await reply.text()];
    };
    assert.deepEqual(await ready(), [200, "ready\n"]);

    await readOnly.turnOn();
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
    await readOnly.turnOff();
    await new Promise((resolve) => setTimeout(resolve, 150));
    assert.equal((await write("written")).status, 200);
    assert.deepEqual(await ready(), [200, "ready\n"]);
  });
});

describe("a pool with several hosts", () => {
  it("uses the host that accepts writes, wherever it is in the list", async () => {
    await using standby = await startStandby();
    const primary = new URL(await newPostgresDatabase());
    const closed = `127.0.0.1:${await freePort()}`;
    const hosts = [closed, `127.0.0.1:${standby.port}`, primary.host];
    const opened = openPool(newHosts(withHosts(primary, hosts), defaultDatabaseLimits), defaultDatabaseLimits);
    await opened.write(writeTable);
    await opened.check();
    await opened.close();
  });

  it("says of each host why it cannot be used", async () => {
    await using standby = await startStandby();
    const hosts = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${standby.port}`];
    const url = withHosts(new URL("postgres://postgres@h/postgres"), hosts);
    await assert.rejects(openDatabase(url, defaultDatabaseLimits), (error) => {
      assert.ok(error instanceof StorageUnavailable);
      assert.equal(
        (error.cause as Error).message,
        `${hosts[0]}: connect ECONNREFUSED ${hosts[0]}; ${hosts[1]}: the database server is a standby`,
      );
      return true;
    });
  });

  it("moves to another host when its own no longer accepts connections, and breaks those to it", async () => {
    const primary = new URL(await newPostgresDatabase());
    await using proxy = await openPostgresProxy(primary.href);
    const url = withHosts(primary, [new URL(proxy.url).host, primary.host]);
    const hosts = newHosts(url, defaultDatabaseLimits);
    const { pool, write, close } = openPool(hosts, defaultDatabaseLimits);
    await write(writeTable);
    assert.equal(hosts.current().name, new URL(proxy.url).host);
    const busy = await pool.connect();
    const broken = assert.rejects(busy.query("SELECT pg_sleep(10)"), /Connection terminated/);
    proxy.target = 1;
    hosts.suspect(hosts.current());
    await write(writeTable);
    assert.equal(hosts.current().name, primary.host);
    await broken;
    busy.release(true);
    await close();
  });
});

function withHosts(url: URL, hosts: readonly string[]): string {
  return `postgres://postgres@${hosts.join(",")}${url.pathname}?target_session_attrs=read-write`;
}

describe("a pool", () => {
  it("repeats a rejected write on a new connection, and drops all older ones", async () => {
    const hosts = newHosts(await newPostgresDatabase(), defaultDatabaseLimits);
    const { pool, write, close } = openPool(hosts, defaultDatabaseLimits);
    const clients = await Promise.all(Array.from({ length: 3 }, () => pool.connect()));
    for (const client of clients) client.release();
    let runs = 0;
    await write(async (client) => {
      if (runs++ === 0) await client.query("SET TRANSACTION READ ONLY");
      await writeTable(client);
    });
    assert.equal(runs, 2);
    const newer = await pool.connect();
    assert.ok(clients.every((client) => client !== newer && pool.isOutdated(client)));
    newer.release();
    await close();
  });

  it("leaves a server before a write if the server reports that it became read-only", async () => {
    const hosts = newHosts(await newPostgresDatabase(), defaultDatabaseLimits);
    const { pool, write, check, close } = openPool(hosts, defaultDatabaseLimits);
    const clients = await Promise.all(Array.from({ length: 3 }, () => pool.connect()));
    for (const client of clients) await client.query("SET default_transaction_read_only = on");
    for (const client of clients) client.release();
    let runs = 0;
    await write(async (client) => {
      runs++;
      await writeTable(client);
    });
    assert.equal(runs, 1);
    for (let i = 0; i < 3; i++) await check();
    const { rows } = await pool.query("SHOW transaction_read_only");
    assert.deepEqual(rows, [{ transaction_read_only: "off" }]);
    await close();
  });

  it("detects a connection that became read-only by a health check, too", async () => {
    const { pool, check, close } = openPool(
      newHosts(await newPostgresDatabase(), defaultDatabaseLimits),
      defaultDatabaseLimits,
    );
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
    const { pool, write, check, close } = openPool(newHosts(proxy.url, defaultDatabaseLimits), defaultDatabaseLimits);
    const isRefused = (error: unknown) =>
      error instanceof StorageUnavailable &&
      !(error instanceof StorageReadOnly) &&
      error.message === "the database server is a standby";
    proxy.target = standby.port;
    for (let i = 0; i < 2; i++) {
      await assert.rejects(pool.query("SELECT 1"), isRefused);
      await assert.rejects(write(writeTable), isRefused);
      await assert.rejects(check(), isRefused);
    }
    proxy.target = primary;
    await check();
    await write((client) => client.query("CREATE TEMPORARY TABLE written (i int)"));
    await close();
  });
});
