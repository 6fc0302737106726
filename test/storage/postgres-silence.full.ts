// PostgreSQL behind connections that stop responding: a dead host, a lost NAT entry, a hanging proxy.
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { openDatabase } from "../../src/storage/database.ts";
import { type DatabaseLimits, defaultDatabaseLimits } from "../../src/storage/engine/dialect.ts";
import { StorageUnavailable } from "../../src/storage/engine/errors.ts";
import { readSetting, writeSetting } from "../../src/storage/engine/settings.ts";
import { eq, sql } from "../../src/storage/schema/drizzle.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { write } from "./fixtures.ts";
import { openSilentProxy } from "./silent-proxy.ts";
import { newPostgresUrl } from "./stores.ts";

after(stopPostgres);

/** A short statement timeout, so a missing response is noticed soon. */
const hasty: Partial<DatabaseLimits> = { statementTimeoutMs: 200 };

/** Connections that do not respond cannot close cleanly. */
const closeTimeoutMs = 100;

async function openBehindProxy(limits: Partial<DatabaseLimits>) {
  const url = new URL(await newPostgresUrl());
  const proxy = await openSilentProxy(Number(url.port));
  url.port = String(proxy.port);
  const database = await openDatabase(url.href, { ...defaultDatabaseLimits, closeTimeoutMs, ...limits });
  let closed: Promise<void> | undefined;
  const close = () => (closed ??= database.close());
  return {
    database,
    proxy,
    close,
    async [Symbol.asyncDispose]() {
      await close();
      await proxy[Symbol.asyncDispose]();
    },
  };
}

describe("PostgreSQL: connections that go silent", () => {
  it("silent connections to PostgreSQL fail the calls that use them, and new connections serve later calls", async () => {
    await using behind = await openBehindProxy(hasty);
    const { database, proxy } = behind;
    await write(database, (tx) => writeSetting(tx, "colour", "red"));
    await Promise.all(Array.from({ length: 3 }, () => database.read((session) => readSetting(session, "colour"))));
    proxy.silence();
    const waiting = [
      () => readSetting(database.session, "colour"),
      () => database.read((session) => readSetting(session, "colour")),
      () => write(database, (tx) => writeSetting(tx, "colour", "blue")),
      async () => await database.accessEpoch.current(),
    ];
    database.accessEpoch.invalidate();
    for (const result of await Promise.allSettled(waiting.map((ask) => ask())))
      assert.ok(result.status === "rejected" && result.reason instanceof StorageUnavailable, result.status);
    assert.equal(await readSetting(database.session, "colour"), "red");
    assert.equal(await database.accessEpoch.current(), 0);
    await write(database, (tx) => writeSetting(tx, "colour", "green"));
    assert.equal(await database.read((session) => readSetting(session, "colour")), "green");
  });

  it("a transaction on a silent connection to PostgreSQL fails with UNAVAILABLE, and is undone", async () => {
    await using behind = await openBehindProxy(hasty);
    const { database, proxy } = behind;
    const attempt = write(database, async (tx) => {
      await writeSetting(tx, "colour", "red");
      proxy.silence();
      await writeSetting(tx, "colour", "blue");
    });
    await assert.rejects(attempt, StorageUnavailable);
    await assert.rejects(readSetting(database.session, "colour"), StorageUnavailable);
    assert.equal(await readSetting(database.session, "colour"), undefined);
  });

  it("a health check detects a silent connection to PostgreSQL within its timeout, and replaces it", async () => {
    await using behind = await openBehindProxy({ checkTimeoutMs: 500 });
    const { database, proxy } = behind;
    await database.check();
    proxy.silence();
    await assert.rejects(database.check());
    await database.check();
    proxy.silence({ all: true });
    await assert.rejects(database.check());
    await assert.rejects(database.check());
  });

  it("silent connections to PostgreSQL do not block closing the database", async () => {
    await using behind = await openBehindProxy({});
    const { database, proxy, close } = behind;
    await database.check();
    proxy.silence({ all: true });
    const lost = assert.rejects(readSetting(database.session, "colour"), StorageUnavailable);
    await close();
    await lost;
  });

  it("silent connections to PostgreSQL are not dropped if statements have no timeout", async () => {
    await using behind = await openBehindProxy({ statementTimeoutMs: 0 });
    const { database } = behind;
    await write(database, (tx) => writeSetting(tx, "colour", "red"));
    const slow = database.session.prepared("test.slow", (db, { settings }) =>
      db.select({ slept: sql<string>`cast(pg_sleep(1.2) as text)` }).from(settings).where(eq(settings.name, "colour")),
    );
    assert.deepEqual(await slow.execute(), [{ slept: "" }]);
  });
});
