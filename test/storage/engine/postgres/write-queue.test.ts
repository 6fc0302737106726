// Group commit on PostgreSQL, by what the database itself knows: rows of one transaction have the same xmin, rows behind a
// savepoint one of their own.
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import pg from "pg";
import { findRow, insertRow } from "../../../../src/storage/collection/rows.ts";
import type { Database } from "../../../../src/storage/database.ts";
import { readCounter } from "../../../../src/storage/engine/counters.ts";
import { type DialectTransaction, defaultDatabaseLimits } from "../../../../src/storage/engine/dialect.ts";
import { UniqueViolation } from "../../../../src/storage/engine/errors.ts";
import { postgresDialect } from "../../../../src/storage/engine/postgres/dialect.ts";
import { sessionSettings } from "../../../../src/storage/engine/postgres/session-settings.ts";
import { newMember, newSharedStatements } from "../../../../src/storage/engine/postgres/write-member.ts";
import type { Session } from "../../../../src/storage/engine/session.ts";
import { loadPostgresDriver, sql } from "../../../../src/storage/schema/drizzle.ts";
import { postgresTables } from "../../../../src/storage/schema/tables.postgres.ts";
import { stopPostgres } from "../../../harness/postgres.ts";
import { context, type groupRow as GroupRow, groupRow, groups, write } from "../../fixtures.ts";
import { newPostgresUrl, openPostgresStore, type Store } from "../../stores.ts";
import { createIndependently } from "./independent-writes.ts";

after(stopPostgres);

const { drizzle } = loadPostgresDriver();

const root = groupRow(null, "root");
const count = 100;

async function transactionsOf(store: Store, table: string): Promise<number> {
  const [row] = await store.tamper(`SELECT count(DISTINCT xmin::text) AS n FROM ${table}`);
  return Number(row?.n);
}

describe("writes that arrive together", () => {
  for (const [how, create] of [
    [
      "one after another",
      (database: Database, row: ReturnType<typeof GroupRow>) => write(database, (tx) => insertRow(tx, groups, row)),
    ],
    ["at the same time, if they are independent", createIndependently],
  ] as const) {
    it(`share transactions, ${how}`, async () => {
      await using store = await openPostgresStore();
      await write(store.database, (tx) => insertRow(tx, groups, root));
      await Promise.all(Array.from({ length: count }, (_, i) => create(store.database, groupRow(root.uid, i))));
      for (const table of ["groups", "group_entries", "changes"])
        assert.ok((await transactionsOf(store, table)) < count / 10, table);
    });
  }

  it("store each value as it is, with escapes in every place", async () => {
    await using store = await openPostgresStore();
    const { database } = store;
    await write(database, (tx) => insertRow(tx, groups, root));
    const texts = [`"\\\u2028'`, "{}", "null", "\\u0000", "é😀"];
    const rows = texts.map((text, i) =>
      groupRow(root.uid, i, { name: text, description: text, resourceLimits: { [text]: i } as never }),
    );
    await Promise.all(rows.map((row) => createIndependently(database, row)));
    for (const row of rows) assert.deepEqual(await findRow(database.session, groups, row.uid), row);
    // A claim may contain NUL, which only JSON columns can store.
    const actorClaims = { email: "a\0@example.org" };
    await database.write({ ...context, actorClaims }, (tx) => insertRow(tx, groups, groupRow(root.uid, "claims")));
    const [change] = await store.tamper("SELECT actor_claims FROM changes ORDER BY sequence DESC LIMIT 1");
    assert.deepEqual(change?.actor_claims, actorClaims);
  });

  it("fail alone: the others of their batch commit, and so does what follows", async () => {
    await using store = await openPostgresStore();
    const { database } = store;
    await write(database, (tx) => insertRow(tx, groups, root));
    await createIndependently(database, groupRow(root.uid, "taken"));
    const rows = Array.from({ length: count }, (_, i) => groupRow(root.uid, i % 10 === 4 ? "taken" : i));
    const results = await Promise.allSettled(rows.map((row) => createIndependently(database, row)));
    for (const [i, result] of results.entries()) {
      if (i % 10 === 4) assert.ok(result.status === "rejected" && result.reason instanceof UniqueViolation, `${i}`);
      else assert.equal(result.status, "fulfilled", `${i}`);
    }
    for (const { uid } of rows) assert.ok(await findRow(database.session, groups, uid));
  });

  it("commit nothing of a write whose statement cannot be sent", async () => {
    await using store = await openPostgresStore();
    const { database } = store;
    await write(database, (tx) => insertRow(tx, groups, root));
    // JSON has no BigInt.
    const bad = groupRow(root.uid, "bad", { resourceLimits: { groups: 1n } as never });
    const good = groupRow(root.uid, "good");
    const [rejected, stored] = await Promise.allSettled([bad, good].map((row) => createIndependently(database, row)));
    assert.ok(rejected?.status === "rejected" && rejected.reason instanceof TypeError);
    assert.equal(stored?.status, "fulfilled");
    assert.equal(await findRow(database.session, groups, bad.uid), undefined);
    assert.ok(await findRow(database.session, groups, good.uid));
    assert.equal(await readCounter(database.session, root.uid, "groups"), 1);
    assert.deepEqual(await store.tamper("SELECT count(*)::int AS n FROM changes"), [{ n: 2 }]);
  });

  it("see what earlier ones of their batch did, and nothing of those that failed", async () => {
    await using store = await openPostgresStore();
    const { database } = store;
    await write(database, (tx) => insertRow(tx, groups, root));
    const row = groupRow(root.uid, "only once");
    const insertOnce = () =>
      write(database, async (tx) => {
        if (await findRow(tx, groups, row.uid)) return "found";
        await insertRow(tx, groups, row);
        return "inserted";
      });
    const failing = write(database, async (tx) => {
      await insertRow(tx, groups, row);
      throw new RangeError("on second thought");
    });
    const [first, ...others] = await Promise.all([
      ...Array.from({ length: 20 }, insertOnce),
      failing.catch((error) => (error instanceof RangeError ? "failed" : "other")),
    ]);
    assert.deepEqual([first, new Set(others)], ["inserted", new Set(["found", "failed"])]);
  });
});

describe("the settings of a session", () => {
  it("make a statement look up uids in the index, although it was prepared while the table was empty", async () => {
    await using store = await openPostgresStore(await newPostgresUrl());
    const client = new pg.Client(store.url);
    await client.connect();
    try {
      const uids = postgresDialect.isAmong(postgresTables.groups.uid, sql.raw("$1"));
      const { sql: text } = drizzle(client, { casing: "snake_case" })
        .select()
        .from(postgresTables.groups)
        .where(uids)
        .toSQL();
      await client.query(`${sessionSettings(defaultDatabaseLimits)}; SET plan_cache_mode = force_generic_plan`);
      await client.query(`PREPARE by_uids (text) AS ${text}`);
      const { rows } = await client.query<{ readonly "QUERY PLAN": string }>("EXPLAIN EXECUTE by_uids ('[]')");
      assert.ok(
        rows.some((row) => row["QUERY PLAN"].includes("Index Scan using groups_pkey")),
        JSON.stringify(rows),
      );
    } finally {
      await client.end();
    }
  });
});

describe("a write of a batch", () => {
  it("sends no statement that changes rows unless the transaction has begun", async () => {
    const executed: string[] = [];
    const prepared = (key: string) => ({
      isWrite: key === "write",
      execute: async () => void executed.push(key),
    });
    const tx = { prepared } as unknown as DialectTransaction;
    const { promise: begun, reject } = Promise.withResolvers<void>();
    const shared = newSharedStatements({ tx, begun });
    const member = newMember({ tx, begun }, shared.gather);
    const execute = (key: string) => member.tx.prepared(key, () => assert.fail()).execute();
    const run = async (session: Session) => void (await session.prepared("write", () => assert.fail()).execute());
    const results = Promise.allSettled([execute("read"), execute("write"), member.tx.gather?.write("rows", [1], run)]);
    await new Promise((resolve) => setImmediate(resolve));
    reject(new Error("BEGIN failed"));
    assert.deepEqual(
      (await results).map(({ status }) => status),
      ["fulfilled", "rejected", "rejected"],
    );
    assert.deepEqual(executed, ["read"]);
  });
});
