// Tests the number of round trips to PostgreSQL, as counted by a proxy.
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { insertRow, updateRow } from "../../../../src/storage/collection/rows.ts";
import { type Database, openDatabase } from "../../../../src/storage/database.ts";
import { defaultDatabaseLimits } from "../../../../src/storage/engine/dialect.ts";
import { stopPostgres } from "../../../harness/postgres.ts";
import { type CountingProxy, openCountingProxy } from "../../counting-proxy.ts";
import { groupRow, groups, write } from "../../fixtures.ts";
import { openPostgresStore, type Store } from "../../stores.ts";
import { createIndependently } from "./independent-writes.ts";

after(stopPostgres);

const root = groupRow(null, "root");

/** Opens the database of a store behind a proxy. It closes with the stack. */
async function openBehindProxy(
  store: Store,
  stack: AsyncDisposableStack,
): Promise<{ database: Database; proxy: CountingProxy }> {
  const url = new URL(store.url);
  const proxy = stack.use(await openCountingProxy(Number(url.port)));
  url.port = String(proxy.port);
  const database = await openDatabase(url.href, defaultDatabaseLimits);
  stack.defer(() => database.close());
  return { database, proxy };
}

describe("round trips to PostgreSQL", () => {
  it("are two for independent writes that arrive together", async () => {
    await using store = await openPostgresStore();
    await using stack = new AsyncDisposableStack();
    const { database, proxy } = await openBehindProxy(store, stack);
    await write(database, (tx) => insertRow(tx, groups, root));
    const before = proxy.sent();
    const rows = Array.from({ length: 100 }, (_, i) => groupRow(root.uid, i));
    await Promise.all(rows.map((row) => createIndependently(database, row)));
    assert.equal(proxy.sent() - before, 2);
  });

  it("are two to validate cached rows after a commit, and one to read them while commits follow each other", async () => {
    await using store = await openPostgresStore();
    await using stack = new AsyncDisposableStack();
    const { database, proxy } = await openBehindProxy(store, stack);
    let current = root;
    await write(store.database, (tx) => insertRow(tx, groups, current));
    const readTogether = async () => {
      const before = proxy.sent();
      for (const row of await Promise.all([1, 2, 3].map(() => database.rows.find(groups, root.uid))))
        assert.deepEqual(row, current);
      return proxy.sent() - before;
    };
    for (let reads = 0; reads < 3; reads++) await readTogether();

    await write(store.database, (tx) => insertRow(tx, groups, groupRow(null, "other")));
    assert.equal(await readTogether(), 2);
    const counts = new Set<number>();
    // A busy machine may take longer than a commit counts as recent.
    for (let attempt = 0; attempt < 20 && !counts.has(1); attempt++) {
      const next = { ...current, name: `${current.name}.` };
      await write(store.database, (tx) => updateRow(tx, groups, current, next));
      current = next;
      counts.add(await readTogether());
    }
    assert.ok(counts.has(1));
  });
});
