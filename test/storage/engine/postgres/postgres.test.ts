import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { lastChange, lastChangeOfKind, readChanges } from "../../../../src/storage/change-log/change-log.ts";
import { checkDatabase, repairDatabase } from "../../../../src/storage/check/check-database.ts";
import { deleteRow, findRow, insertRow, updateRow } from "../../../../src/storage/collection/rows.ts";
import { openDatabase } from "../../../../src/storage/database.ts";
import { defaultDatabaseLimits } from "../../../../src/storage/engine/dialect.ts";
import { StorageUnavailable, UniqueViolation } from "../../../../src/storage/engine/errors.ts";
import { changesLock } from "../../../../src/storage/engine/postgres/transaction.ts";
import type { Session } from "../../../../src/storage/engine/session.ts";
import { readSetting, writeSetting } from "../../../../src/storage/engine/settings.ts";
import { loadPostgresDriver, sql } from "../../../../src/storage/schema/drizzle.ts";
import { postgresTables } from "../../../../src/storage/schema/tables.postgres.ts";
import { databases } from "../../../harness/databases.ts";
import { stopPostgres } from "../../../harness/postgres.ts";
import { untilTrue } from "../../../harness/until.ts";
import { conformance } from "../../conformance.ts";
import {
  bindingRow,
  collections,
  context,
  groupRow,
  groups,
  identities,
  identityRow,
  roleBindings,
  roleRow,
  roles,
  write,
} from "../../fixtures.ts";
import { newPostgresUrl, openPostgresStore, type Store } from "../../stores.ts";
import { missingPostgresMigration } from "../migrations.ts";

// Outside of any suite it runs after all files of the process: others may use the same server.
after(stopPostgres);

if (databases.includes("postgres")) conformance("PostgreSQL", openPostgresStore);

const root = groupRow(null, "root");

/** A barrier for a number of writers. */
function newBarrier(count: number): () => Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let missing = count;
  return async () => {
    if (--missing <= 0) resolve();
    await promise;
  };
}

/** Connections report what they saw when they close. */
async function deadlocksIn(store: Store): Promise<number> {
  const [row] = await store.tamper("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()");
  return Number(row?.deadlocks);
}

/** Returns the text of a statement, without running it. */
async function textOf(run: (session: Session) => Promise<unknown>): Promise<string> {
  let text = "";
  const prepared: Session["prepared"] = (_key, build) => {
    const query = build(loadPostgresDriver().drizzle.mock({ casing: "snake_case" }), postgresTables);
    text = (query as unknown as { toSQL(): { sql: string } }).toSQL().sql;
    return { execute: () => [] as never };
  };
  await run({ prepared } as Session);
  return text;
}

describe("PostgreSQL: migrations", () => {
  it("create exactly the declared tables", async () => {
    assert.deepEqual(await missingPostgresMigration(), []);
  });

  it("run once if several nodes start on a new database at the same time", async () => {
    const url = await newPostgresUrl();
    const nodes = await Promise.all(Array.from({ length: 4 }, () => openDatabase(url, defaultDatabaseLimits)));
    await write(nodes[0]!, (tx) => insertRow(tx, groups, root));
    for (const node of nodes) {
      assert.deepEqual(await findRow(node.session, groups, root.uid), root);
      await node.close();
    }
  });
});

describe("PostgreSQL: transactions", () => {
  it("two deadlocked transactions both succeed: one runs again", async () => {
    await using store = await openPostgresStore();
    const nodes = [store.database, await store.open()] as const;
    const rows = [groupRow(null, "a"), groupRow(null, "b")];
    await write(store.database, async (tx) => {
      for (const row of rows) await insertRow(tx, groups, row);
    });
    const both = newBarrier(2);
    let runs = 0;
    const writeIn = (node: 0 | 1, order: readonly string[]) =>
      write(nodes[node], async (tx) => {
        runs++;
        for (const uid of order) {
          const row = (await findRow(tx, groups, uid))!;
          await updateRow(tx, groups, row, { ...row, description: `${row.description} ${node}` });
          await both();
        }
      });
    const uids = rows.map(({ uid }) => uid);
    await Promise.all([writeIn(0, uids), writeIn(1, uids.toReversed())]);
    assert.ok(runs > 2, `${runs} runs`);
    for (const uid of uids) {
      const row = await findRow(store.database.session, groups, uid);
      assert.deepEqual(row?.description.trim().split(" ").sort(), ["0", "1"]);
    }
    assert.equal((await readChanges(store.database.session, 0, 100)).length, 6);
  });

  it("transactions of several changes never deadlock", async () => {
    await using store = await openPostgresStore();
    const nodes = [store.database, await store.open()] as const;
    const earlier = await deadlocksIn(store);
    const owner = identityRow(null, "owner");
    const held = Array.from({ length: 80 }, (_, i) => roleRow(null, i));
    const parents = Array.from({ length: 16 }, (_, i) => groupRow(null, i));
    await write(nodes[0], async (tx) => {
      for (const role of held) await insertRow(tx, roles, role);
      await insertRow(tx, identities, owner);
      for (const parent of parents) await insertRow(tx, groups, parent);
    });
    await Promise.all(
      held.map((role, i) =>
        // In different organizations and orders, they only share what every writer writes.
        write(nodes[i % 2]!, async (tx) => {
          const parent = parents[i % 16]!.uid;
          const steps = [
            () => insertRow(tx, groups, groupRow(parent, i)),
            () => insertRow(tx, roleBindings, bindingRow(parent, owner, role)),
          ];
          for (const step of i % 4 < 2 ? steps : steps.toReversed()) await step();
        }),
      ),
    );
    await store.closeHandles();
    assert.equal(await deadlocksIn(store), earlier);
  });

  it("transactions that create in a group and delete it never deadlock", async () => {
    await using store = await openPostgresStore();
    const nodes = [store.database, await store.open()] as const;
    const earlier = await deadlocksIn(store);
    await write(nodes[0], (tx) => insertRow(tx, groups, root));
    for (let round = 0; round < 40; round++) {
      const group = groupRow(root.uid, round);
      await write(nodes[0], (tx) => insertRow(tx, groups, group));
      const results = await Promise.allSettled([
        write(nodes[0], (tx) => insertRow(tx, groups, groupRow(group.uid, "child"))),
        write(nodes[1], (tx) => deleteRow(tx, groups, group)),
      ]);
      assert.deepEqual(results.map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
    }
    await store.closeHandles();
    assert.equal(await deadlocksIn(store), earlier);
  });

  it("an open transaction does not block inserts into the same group", async () => {
    await using store = await openPostgresStore();
    const other = await store.open({ lockTimeoutMs: patienceMs });
    await write(store.database, (tx) => insertRow(tx, groups, root));
    await write(store.database, async (tx) => {
      await insertRow(tx, groups, groupRow(root.uid, "first"));
      await write(other, (otherTx) => insertRow(otherTx, groups, groupRow(root.uid, "second")));
    });
    const { rows, findings } = await store.database.read((session) => checkDatabase(session, collections));
    assert.deepEqual({ rows, findings }, { rows: 3, findings: [] });
  });

  it("a transaction waits for at most one large one", async () => {
    await using store = await openPostgresStore();
    const { database } = store;
    const create = (name: string, isLarge: boolean) => {
      // A transaction may run twice.
      const parent = parents.pop()!.uid;
      return database.write({ ...context, isLarge }, (tx) => insertRow(tx, groups, groupRow(parent, name)));
    };
    // Of three organizations, which share no counter.
    const parents = [1, 2, 3].map((n) => groupRow(null, n));
    for (const parent of parents) await write(database, (tx) => insertRow(tx, groups, parent));
    const earlier = await lastChange(database.session);
    const waitFor = async (count: number) =>
      await untilTrue(async () => {
        const waiting = await store.tamper(
          "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
        );
        return waiting.length === count;
      });
    await store.tamper("BEGIN");
    await store.tamper(`SELECT pg_advisory_xact_lock(${changesLock})`);
    const writes = [create("large", true)];
    await waitFor(1);
    writes.push(create("also large", true));
    await waitFor(2);
    writes.push(create("small", false));
    await waitFor(3);
    await store.tamper("COMMIT");
    await Promise.all(writes);
    const names = (await readChanges(database.session, earlier, 3)).map(
      ({ after }) => (after as { name: string }).name,
    );
    assert.deepEqual(names, ["group large", "group small", "group also large"]);
  });

  it("a transaction that continues after a failed statement is rejected, not committed", async () => {
    await using store = await openPostgresStore();
    await write(store.database, (tx) => insertRow(tx, groups, root));
    const attempt = write(store.database, async (tx) => {
      await writeSetting(tx, "colour", "red");
      await insertRow(tx, groups, root).catch((error: unknown) => assert.ok(error instanceof UniqueViolation));
    });
    await assert.rejects(attempt, /went on after one of its statements had failed/);
    assert.equal(await readSetting(store.database.session, "colour"), undefined);
  });
});

describe("PostgreSQL: a repair", () => {
  it("waits for writers that have begun, and does not undo their changes", async () => {
    await using store = await openPostgresStore();
    const other = await store.open();
    const child = groupRow(root.uid, "child");
    await write(store.database, async (tx) => {
      for (const row of [root, child]) await insertRow(tx, groups, row);
    });
    await store.tamper(
      `DELETE FROM group_entries WHERE tail = '${child.uid.slice(root.uid.length)}' AND key = '${root.uid}'`,
    );
    const [isDeleted, mayCommit] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const deleting = write(other, async (tx) => {
      await deleteRow(tx, groups, child);
      isDeleted.resolve();
      await mayCommit.promise;
    });
    await isDeleted.promise;
    let isRepaired = false;
    const repairing = write(store.database, (tx) => repairDatabase(tx, collections)).finally(() => {
      isRepaired = true;
    });
    const waits = "SELECT 1 FROM pg_locks WHERE NOT granted";
    while (!isRepaired && (await store.tamper(waits)).length === 0);
    mayCommit.resolve();
    await Promise.all([deleting, repairing]);
    const { rows, findings } = await store.database.read((session) => checkDatabase(session, collections));
    assert.deepEqual({ rows, findings }, { rows: 1, findings: [] });
  });
});

/** Includes the time for a new connection, which is long on a busy machine. */
const patienceMs = 1000;

describe("PostgreSQL: the plan of the change log", () => {
  it("the last change of a kind is found by its index alone, in a plan for any kind", async () => {
    await using store = await openPostgresStore();
    await store.tamper(`INSERT INTO changes (time, actor, method, request_id, kind, uid, group_uid)
      SELECT n, '', '', '', 'tags', n, '' FROM generate_series(1, 5000) n`);
    await store.tamper("ANALYZE changes");
    await store.tamper("SET plan_cache_mode = force_generic_plan");
    await store.tamper(`PREPARE latest AS ${await textOf((session) => lastChangeOfKind(session, "roles"))}`);
    const plan = await store.tamper("EXPLAIN EXECUTE latest('roles', 'roles')");
    assert.match(JSON.stringify(plan), /using changes_kind on/);
    assert.doesNotMatch(JSON.stringify(plan), /Filter/);
  });
});

describe("PostgreSQL: unavailability", () => {
  it("a lock that is held beyond the timeout makes writes unavailable, only until it is released", async () => {
    await using store = await openPostgresStore();
    const database = await store.open({ lockTimeoutMs: patienceMs });
    await write(database, (tx) => writeSetting(tx, "colour", "red"));
    await store.tamper("BEGIN");
    await store.tamper("LOCK TABLE settings IN ACCESS EXCLUSIVE MODE");
    await assert.rejects(
      write(database, (tx) => writeSetting(tx, "colour", "blue")),
      StorageUnavailable,
    );
    await assert.rejects(readSetting(database.session, "colour"), StorageUnavailable);
    await store.tamper("COMMIT");
    assert.equal(await readSetting(database.session, "colour"), "red");
  });

  it("a statement beyond its timeout makes its call unavailable", async () => {
    await using store = await openPostgresStore();
    const database = await store.open({ statementTimeoutMs: 50 });
    await store.tamper("BEGIN");
    await store.tamper("LOCK TABLE settings IN ACCESS EXCLUSIVE MODE");
    await assert.rejects(readSetting(database.session, "colour"), StorageUnavailable);
    await store.tamper("COMMIT");
  });

  it("a call that gets no connection in time is unavailable", async () => {
    await using store = await openPostgresStore();
    const database = await store.open({ poolSize: 1, lockTimeoutMs: patienceMs });
    await write(database, async () => {
      await assert.rejects(
        write(database, async () => {}),
        StorageUnavailable,
      );
      await assert.rejects(
        database.read((session) => readSetting(session, "colour")),
        StorageUnavailable,
      );
      // Single statements have a connection of their own.
      assert.equal(await readSetting(database.session, "colour"), undefined);
    });
  });

  it("a transaction whose client is frozen ends, and its locks are released", async () => {
    await using store = await openPostgresStore();
    const frozen = await store.open({ idleInTransactionMs: 100 });
    const attempt = write(frozen, async (tx) => {
      await writeSetting(tx, "colour", "red");
      // Waits for the row, which its client keeps locked.
      await write(store.database, (other) => writeSetting(other, "colour", "blue"));
    });
    await assert.rejects(attempt, StorageUnavailable);
    assert.equal(await readSetting(frozen.session, "colour"), "blue");
  });

  it("a client that died silently is detected by keepalives", async () => {
    await using store = await openPostgresStore();
    await write(store.database, (tx) => writeSetting(tx, "colour", "red"));
    const names = ["idle", "interval", "count"];
    const statement = store.database.session.prepared("test.keepalives", (db, { settings }) =>
      db
        .select({
          values: sql<string>`concat_ws(' ', ${sql.join(
            names.map((name) => sql.raw(`current_setting('tcp_keepalives_${name}')`)),
            sql`, `,
          )})`,
        })
        .from(settings),
    );
    assert.deepEqual(await statement.execute(), [{ values: "10 5 3" }]);
  });

  it("writes that wait for a lock leave connections for reads", async () => {
    await using store = await openPostgresStore();
    const database = await store.open({ poolSize: 4 });
    await store.tamper("BEGIN");
    await store.tamper("LOCK TABLE settings IN SHARE ROW EXCLUSIVE MODE");
    const writes = Array.from({ length: 12 }, (_, i) => write(database, (tx) => writeSetting(tx, "colour", `${i}`)));
    assert.equal(await readSetting(database.session, "colour"), undefined);
    await store.tamper("COMMIT");
    await Promise.all(writes);
  });

  it("a refused connection, for any reason, makes reads and writes unavailable, only while it is refused", async () => {
    await using store = await openPostgresStore();
    await store.tamper("CREATE ROLE visitor SUPERUSER LOGIN");
    const url = new URL(store.url);
    url.username = "visitor";
    const database = await openDatabase(url.href, { ...defaultDatabaseLimits, poolSize: 1 });
    await store.tamper("ALTER ROLE visitor NOLOGIN");
    await store.tamper("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = 'visitor'");
    const attempts = [
      () => readSetting(database.session, "colour"),
      () => database.read((session) => readSetting(session, "colour")),
      () => write(database, (tx) => writeSetting(tx, "colour", "red")),
      () => database.check(),
    ];
    // The first may use the broken connection.
    await attempts[0]!().catch(() => {});
    for (const attempt of attempts) await assert.rejects(attempt, StorageUnavailable);
    await store.tamper("ALTER ROLE visitor LOGIN");
    await write(database, (tx) => writeSetting(tx, "colour", "blue"));
    assert.equal(await readSetting(database.session, "colour"), "blue");
    await database.close();
    await store.tamper("DROP ROLE visitor");
  });

  it("a write whose connection breaks is unavailable and undone, and the next one succeeds", async () => {
    await using store = await openPostgresStore();
    const cut = async () => {
      await store.tamper(
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
      );
    };
    const attempt = write(store.database, async (tx) => {
      await insertRow(tx, groups, root);
      await cut();
      await insertRow(tx, groups, groupRow(root.uid, "child"));
    });
    await assert.rejects(attempt, StorageUnavailable);
    await write(store.database, (tx) => insertRow(tx, groups, root));
    await cut();
    // Connections that broke while idle are replaced, immediately or on next use.
    const read = async () => await findRow(store.database.session, groups, root.uid);
    await read().catch((error: unknown) => {
      assert.ok(error instanceof StorageUnavailable, String(error));
    });
    assert.deepEqual(await findRow(store.database.session, groups, root.uid), root);
    const { rows, findings } = await store.database.read((session) => checkDatabase(session, collections));
    assert.deepEqual({ rows, findings }, { rows: 1, findings: [] });
  });
});
