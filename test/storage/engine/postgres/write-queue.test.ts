// Group commit on PostgreSQL, by what the database itself knows: rows of one transaction have the same xmin, rows behind a
// savepoint one of their own.
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { findRow, insertRow, keepRow } from "../../../../src/storage/collection/rows.ts";
import type { Database } from "../../../../src/storage/database.ts";
import { UniqueViolation } from "../../../../src/storage/engine/errors.ts";
import { stopPostgres } from "../../../harness/postgres.ts";
import { context, type groupRow as GroupRow, groupRow, groups, write } from "../../fixtures.ts";
import { openPostgresStore, type Store } from "../../stores.ts";

after(stopPostgres);

const root = groupRow(null, "root");
const count = 100;

/** Creates a group as its service does: it decides nothing by rows that it does not find. */
function createIndependently(database: Database, row: ReturnType<typeof GroupRow>): Promise<void> {
  return database.write({ ...context, isIndependent: true }, async (tx) => {
    assert.ok(await keepRow(tx, groups, root.uid));
    await insertRow(tx, groups, row);
  });
}

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
