// Group commit: which writes share a commit, which fail together, and when a write is acknowledged.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, it, type TestContext } from "node:test";
import { setImmediate as immediate } from "node:timers/promises";
import BetterSqlite from "better-sqlite3";
import { StorageUnavailable, UniqueViolation } from "../../../../src/storage/engine/errors.ts";
import { withOrFail } from "../../../../src/storage/engine/sqlite/statement-journal.ts";
import { type Job, WaitingWrites } from "../../../../src/storage/engine/sqlite/waiting-writes.ts";
import { WriteQueue } from "../../../../src/storage/engine/sqlite/write-queue.ts";
import type { WriteQueueOptions } from "../../../../src/storage/engine/sqlite/write-queue-options.ts";

describe("write queue", () => {
  let directory = "";
  let connection: BetterSqlite.Database;
  /** Every statement, flush and acknowledgement, in order. */
  let events: string[] = [];

  beforeEach(() => {
    directory = mkdtempSync(path.join(tmpdir(), "gatehouse-queue-"));
    connection = new BetterSqlite(path.join(directory, "queue.db"), { verbose: (sql) => events.push(String(sql)) });
    connection.pragma("journal_mode = WAL");
    connection.exec("CREATE TABLE t (value TEXT PRIMARY KEY) STRICT, WITHOUT ROWID");
    events = [];
  });

  afterEach(() => {
    connection.close();
    rmSync(directory, { recursive: true, force: true });
  });

  function openQueue(options: Partial<WriteQueueOptions> = {}) {
    const sync = async () => {
      await immediate();
      events.push("flushed");
    };
    const queue = new WriteQueue(connection, {
      maxBatch: 128,
      maxBatchMs: 60_000,
      maxBulkBatch: 1000,
      maxBulkBatchMs: 60_000,
      maxWaiting: 1000,
      lockTimeoutMs: 100,
      sync,
      ...options,
    });
    const insert = connection.prepare("INSERT INTO t VALUES (?)");
    return {
      queue,
      insert: (value: string) => queue.run(async () => insert.run(value)),
      insertInBulk: (value: string) => queue.run(async () => insert.run(value), { isBulk: true }),
    };
  }

  /** Returns the lifetime of a call that ends with a reason. */
  function lifetimeOf(reasonOf: () => Error | undefined) {
    return {
      get ended() {
        return reasonOf();
      },
      committed() {},
    };
  }

  /** Returns a connection of another process. */
  function openOther() {
    const other = new BetterSqlite(path.join(directory, "queue.db"));
    return { connection: other, [Symbol.dispose]: () => void other.close() };
  }

  function values(): unknown[] {
    return connection.prepare("SELECT value FROM t ORDER BY value").pluck().all();
  }

  it("300 writes that arrive together share three commits of at most 128", async () => {
    const { insert } = openQueue();
    await Promise.all(Array.from({ length: 300 }, (_, i) => insert(`${i}`)));
    assert.equal(events.filter((event) => event === "COMMIT").length, 3);
    assert.equal(values().length, 300);
  });

  it("a write that arrives while others run shares their commit; one that arrives during the flush gets the next", async () => {
    const late: Promise<unknown>[] = [];
    const { queue, insert } = openQueue({
      sync: async () => {
        if (late.length === 1) late.push(insert("during the flush"));
        await immediate();
      },
    });
    const first = queue.run(async () => {
      late.push(insert("during the batch"));
    });
    await Promise.all([first, insert("at first")]);
    const commits = events.flatMap((event) => event.match(/COMMIT|'.*'/) ?? []);
    await Promise.all(late);
    assert.deepEqual(commits, ["'at first'", "'during the batch'", "COMMIT"]);
    assert.equal(events.at(-1), "COMMIT");
    assert.deepEqual(values(), ["at first", "during the batch", "during the flush"]);
  });

  /** Returns how many ticks passed between two writes if each tick has `perTurn` reads. */
  async function turnsBetween({ mock }: TestContext, perTurn: number): Promise<number> {
    let now = performance.now();
    mock.method(performance, "now", () => now);
    let isDone = false;
    let turns = 0;
    const { queue, insert } = openQueue({ readTicks: () => turns });
    const turn = () => {
      turns += perTurn;
      now++;
      events.push("turn");
      if (!isDone) setImmediate(turn);
    };
    const first = queue.run(async () => {
      now += 10;
      events.push("first");
      setImmediate(turn);
    });
    try {
      await Promise.all([first, insert("second")]);
    } finally {
      isDone = true;
    }
    const between = events.slice(events.indexOf("first"), events.indexOf("INSERT INTO t VALUES ('second')"));
    return between.filter((event) => event === "turn").length;
  }

  it("reads go first for three times the duration of a write, and do not block the next one forever", async (t) => {
    assert.equal(await turnsBetween(t, 1), 30);
  });

  it("one tick is left to other work without reads", async (t) => {
    assert.equal(await turnsBetween(t, 0), 1);
  });

  it("a batch that takes too long is committed, and the rest becomes the next one", async () => {
    const { insert } = openQueue({ maxBatchMs: 0 });
    await Promise.all(["a", "b", "a", "c"].map((value) => insert(value).catch(() => {})));
    assert.equal(events.filter((event) => event === "COMMIT").length, 4);
    assert.deepEqual(values(), ["a", "b", "c"]);
  });

  /** Returns the values in write order, with the commits between them. */
  function written(): string[] {
    return events.flatMap((event) => event.match(/COMMIT|'.*'/) ?? []);
  }

  it("bulk writes share commits beyond 128", async () => {
    const { insertInBulk } = openQueue({ maxBulkBatch: 200 });
    await Promise.all(Array.from({ length: 300 }, (_, i) => insertInBulk(`${i}`)));
    assert.equal(events.filter((event) => event === "COMMIT").length, 2);
    assert.equal(values().length, 300);
  });

  it("another write goes before waiting bulk writes", async () => {
    const { insert, insertInBulk } = openQueue();
    await Promise.all([insertInBulk("bulk 1"), insertInBulk("bulk 2"), insert("single")]);
    assert.deepEqual(written(), ["'single'", "'bulk 1'", "'bulk 2'", "COMMIT"]);
  });

  it("another write that arrives during bulk writes is next, and ends the batch early", async () => {
    const { queue, insert, insertInBulk } = openQueue({ maxBatchMs: 0 });
    const late: Promise<unknown>[] = [];
    const first = queue.run(
      async () => {
        late.push(insert("single"));
      },
      { isBulk: true },
    );
    await Promise.all([first, insertInBulk("bulk 1"), insertInBulk("bulk 2")]);
    await Promise.all(late);
    assert.deepEqual(written(), ["COMMIT", "'single'", "COMMIT", "'bulk 1'", "'bulk 2'", "COMMIT"]);
  });

  it("bulk writes fail one by one, too, and the others of their batch run again", async () => {
    const { queue, insert, insertInBulk } = openQueue();
    const half = queue.run(
      async () => {
        connection.exec("INSERT INTO t VALUES ('half')");
        throw new Error("half");
      },
      { isBulk: true },
    );
    const results = await Promise.allSettled([insertInBulk("a"), half, insertInBulk("b"), insert("c")]);
    assert.deepEqual(
      results.map(({ status }) => status),
      ["fulfilled", "rejected", "fulfilled", "fulfilled"],
    );
    assert.deepEqual(values(), ["a", "b", "c"]);
  });

  it("all writes that wait for a lock beyond the timeout are rejected at the same time", async () => {
    using other = openOther();
    other.connection.exec("BEGIN IMMEDIATE");
    connection.pragma("busy_timeout = 0");
    const { insert } = openQueue();
    await Promise.all(["a", "b", "c"].map((value) => insert(value).catch(() => events.push("refused"))));
    assert.deepEqual(events.slice(-3), ["refused", "refused", "refused"]);
    other.connection.exec("COMMIT");
    await insert("d");
    assert.deepEqual(values(), ["d"]);
  });

  it("writes beyond one commit are rejected too, because they have waited for the same lock", async () => {
    using other = openOther();
    other.connection.exec("BEGIN IMMEDIATE");
    connection.pragma("busy_timeout = 0");
    const { insert } = openQueue({ maxBatch: 2 });
    const release = () => other.connection.inTransaction && other.connection.exec("COMMIT");
    const results = await Promise.allSettled(["a", "b", "c", "d", "e"].map((value) => insert(value).finally(release)));
    for (const result of results)
      assert.ok(result.status === "rejected" && result.reason instanceof StorageUnavailable, result.status);
    await insert("f");
    assert.deepEqual(values(), ["f"]);
  });

  it("a write is acknowledged after its commit and after a flush that began later", async () => {
    const { insert } = openQueue({ maxBatch: 2 });
    await Promise.all(
      ["a", "b", "c", "d", "e"].map(async (value) => {
        await insert(value);
        events.push(`answered ${value}`);
      }),
    );
    for (const value of ["a", "b", "c", "d", "e"]) {
      const inserted = events.findIndex((event) => event.includes(`'${value}'`));
      const committed = events.indexOf("COMMIT", inserted);
      const flushed = events.indexOf("flushed", committed);
      assert.ok(inserted >= 0 && committed > inserted && flushed > committed, events.join("; "));
      assert.ok(events.indexOf(`answered ${value}`) > flushed, events.join("; "));
    }
  });

  it("a write that fails does not fail others of its commit", async () => {
    const { insert } = openQueue();
    const results = await Promise.allSettled(["a", "b", "a", "c"].map(insert));
    assert.deepEqual(
      results.map(({ status }) => status),
      ["fulfilled", "fulfilled", "rejected", "fulfilled"],
    );
    assert.equal(events.filter((event) => event === "COMMIT").length, 1);
    assert.deepEqual(values(), ["a", "b", "c"]);
  });

  it("a write that fails after it has written is undone, and the others of its commit run again and are acknowledged once", async () => {
    const { queue, insert } = openQueue();
    const half = () =>
      queue.run(async () => {
        connection.prepare("INSERT INTO t VALUES ('half')").run();
        throw new Error("changed its mind");
      });
    const results = await Promise.allSettled([insert("a"), half(), insert("b"), half()]);
    assert.deepEqual(
      results.map(({ status }) => status),
      ["fulfilled", "rejected", "fulfilled", "rejected"],
    );
    assert.match(String((results[1] as PromiseRejectedResult).reason), /changed its mind/);
    assert.deepEqual(values(), ["a", "b"]);
    const ends = events.filter((event) => ["COMMIT", "ROLLBACK"].includes(event));
    assert.deepEqual(ends, ["ROLLBACK", "COMMIT"]);
  });

  it("a statement that fails after some of its rows is undone, and does not fail other writes", async () => {
    const { queue, insert } = openQueue();
    const several = withOrFail(connection).prepare("INSERT INTO t SELECT value FROM json_each(?)");
    const first = insert("a");
    const failing = queue.run(async () => several.run(JSON.stringify(["b", "c", "a", "d"])));
    const last = insert("e");
    await assert.rejects(failing, UniqueViolation);
    await Promise.all([first, last]);
    assert.deepEqual(values(), ["a", "e"]);
    // The following ones have savepoints.
    await assert.rejects(
      queue.run(async () => several.run(JSON.stringify(["f", "e"]))),
      UniqueViolation,
    );
    assert.deepEqual(values(), ["a", "e"]);
  });

  it("after such a write each has a savepoint, for a hundred commits; one that fails before it has written affects no other", async () => {
    const { queue, insert } = openQueue();
    const isGuarded = async () => {
      events.length = 0;
      await insert(`${Math.random()}`);
      return events.some((event) => event.startsWith("SAVEPOINT"));
    };
    await assert.rejects(queue.run(() => Promise.reject(new Error("found nothing"))));
    await insert("a");
    await assert.rejects(insert("a"));
    assert.equal(await isGuarded(), false);
    await assert.rejects(
      queue.run(async () => {
        connection.prepare("DELETE FROM t").run();
        throw new Error("changed its mind");
      }),
    );
    for (let commit = 2; commit <= 100; commit++) assert.equal(await isGuarded(), true, `commit ${commit}`);
    assert.equal(await isGuarded(), false);
    assert.equal(values().includes("a"), true);
  });

  it("a write that is alone has a transaction of its own without a savepoint, also after a write that failed late", async () => {
    const { queue, insert, insertInBulk } = openQueue();
    const failing = queue.run(async () => {
      insert("undone").catch(() => {});
      connection.prepare("INSERT INTO t VALUES ('partial')").run();
      throw new Error("late");
    });
    await assert.rejects(failing, /late/);
    await queue.idle();
    events = [];
    const alone = queue.run(async () => connection.prepare("INSERT INTO t VALUES ('alone')").run(), { isAlone: true });
    await Promise.all([insertInBulk("bulk"), alone, insert("after")]);
    const transactions = written().join(" ").split("COMMIT");
    assert.ok(
      transactions.some((each) => each.trim() === "'alone'"),
      transactions.join("|"),
    );
    const [own] = events.join("\n").match(/BEGIN[\s\S]*?COMMIT/) ?? [""];
    assert.match(own, /'alone'/);
    assert.doesNotMatch(own, /SAVEPOINT/);
  });

  it("a write that is alone and fails is rolled back with its transaction, and no other write runs again", async () => {
    const { queue, insert } = openQueue();
    let runs = 0;
    const counted = queue.run(async () => void runs++);
    const failing = queue.run(
      async () => {
        connection.prepare("INSERT INTO t VALUES ('undone')").run();
        throw new Error("late");
      },
      { isAlone: true },
    );
    await assert.rejects(failing, /late/);
    await Promise.all([counted, insert("kept")]);
    assert.equal(runs, 1);
    assert.deepEqual(values(), ["kept"]);
  });

  it("large writes run one at a time, and writes that arrived meanwhile run before the next of them", async () => {
    const { queue, insert } = openQueue();
    const small: Promise<unknown>[] = [];
    const large = (name: string) =>
      queue.run(
        async () => {
          connection.prepare("INSERT INTO t VALUES (?)").run(name);
          small.push(insert(`after ${name}`));
          await immediate();
        },
        { isLarge: true },
      );
    await Promise.all([large("first"), large("second")]);
    await Promise.all(small);
    assert.deepEqual(written(), [
      "'first'",
      "COMMIT",
      "'after first'",
      "COMMIT",
      "'second'",
      "COMMIT",
      "'after second'",
      "COMMIT",
    ]);
  });

  it("the next large write waits for as long as the last one held the lock", () => {
    const waiting = new WaitingWrites();
    const job = { body: async () => {}, isLarge: true, resolve: () => {}, reject: () => {} } as unknown as Job;
    assert.equal(waiting.largeDueIn(0), undefined);
    waiting.add(job);
    assert.equal(waiting.largeDueIn(1000), 0);
    waiting.pauseLarge(1000, 300);
    assert.equal(waiting.largeDueIn(1100), 200);
    assert.equal(waiting.largeDueIn(1300), 0);
    assert.equal(waiting.takeLarge(), job);
  });

  it("writes that are put back come in their order, before those that wait", () => {
    const waiting = new WaitingWrites();
    const newJob = () => ({ body: async () => {}, resolve: () => {}, reject: () => {} }) as unknown as Job;
    const [first, second, third] = [newJob(), newJob(), newJob()];
    waiting.add(third);
    waiting.putBack([first, second]);
    for (const job of [first, second, third]) assert.equal(waiting.takeForeground(), job);
  });

  it("a write whose caller gives up while it waits never begins", async () => {
    const { queue, insert } = openQueue();
    let reason: Error | undefined;
    const first = queue.run(async () => {
      reason = new Error("too late");
    });
    const late = queue.run(async () => connection.prepare("INSERT INTO t VALUES ('late')").run(), {
      lifetime: lifetimeOf(() => reason),
    });
    await assert.rejects(late, /too late/);
    await Promise.all([first, insert("kept")]);
    assert.deepEqual(values(), ["kept"]);
  });

  it("a write that is alone is rolled back if its caller gives up before the commit", async () => {
    const { queue, insert } = openQueue();
    let reason: Error | undefined;
    const late = queue.run(
      async () => {
        connection.prepare("INSERT INTO t VALUES ('late')").run();
        reason = new Error("too late");
      },
      { isAlone: true, lifetime: lifetimeOf(() => reason) },
    );
    await assert.rejects(late, /too late/);
    await insert("kept");
    assert.deepEqual(values(), ["kept"]);
  });

  it("another process writes in a turn that is lent to it, however long the write before it holds the lock", async () => {
    const { queue } = openQueue();
    using other = openOther();
    other.connection.pragma("busy_timeout = 0");
    const limits = { maxBatch: 1, maxBatchMs: 0, maxBulkBatch: 1, maxBulkBatchMs: 0, maxWaiting: 10, lockTimeoutMs: 0 };
    const borrower = new WriteQueue(other.connection, { ...limits, sync: async () => {} });
    borrower.turns.take = () => queue.turns.lend();
    const insert = other.connection.prepare("INSERT INTO t VALUES ('borrowed')");
    let borrowed: Promise<unknown> = Promise.resolve();
    const long = queue.run(
      async () => {
        connection.prepare("INSERT INTO t VALUES ('long')").run();
        borrowed = borrower.run(async () => insert.run());
        for (let i = 0; i < 20; i++) await immediate();
      },
      { isLarge: true },
    );
    await long;
    await borrowed;
    await queue.run(async () => connection.prepare("INSERT INTO t VALUES ('next')").run());
    assert.deepEqual(values(), ["borrowed", "long", "next"]);
  });

  it("a failed flush acknowledges no write of the commit, and is reported to the checkpointer", async () => {
    const sync = () => Promise.reject(new Error("the disk is gone"));
    const { insert } = openQueue({ sync, afterFailedFlush: () => events.push("unflushed") });
    const results = await Promise.allSettled(["a", "b"].map(insert));
    for (const result of results) {
      assert.ok(result.status === "rejected" && result.reason instanceof StorageUnavailable);
    }
    assert.equal(events.filter((event) => event === "unflushed").length, 1);
  });

  it("while no write is possible, waiting writes are rejected, and nothing is written", async () => {
    let mayWrite = false;
    const room = () => (mayWrite ? undefined : Promise.reject(new StorageUnavailable("not now")));
    const { insert } = openQueue({ waitForRoom: room });
    for (const result of await Promise.allSettled(["a", "b"].map(insert)))
      assert.ok(result.status === "rejected" && result.reason instanceof StorageUnavailable);
    mayWrite = true;
    await insert("c");
    assert.deepEqual(values(), ["c"]);
  });

  it("a write beyond the maximum that may wait is rejected immediately, and the others are not", async () => {
    const { insert } = openQueue({ maxWaiting: 3 });
    const results = await Promise.allSettled(["a", "b", "c", "d"].map(insert));
    assert.deepEqual(
      results.map(({ status }) => status),
      ["fulfilled", "fulfilled", "fulfilled", "rejected"],
    );
    assert.ok(results[3]?.status === "rejected" && results[3].reason instanceof StorageUnavailable);
    assert.deepEqual(values(), ["a", "b", "c"]);
  });

  it("a full disk makes writes unavailable, loses none of the earlier ones, and recovers", async () => {
    const { insert } = openQueue({ afterFull: () => events.push("full") });
    await insert("earlier");
    const pages = connection.pragma("page_count", { simple: true });
    connection.pragma(`max_page_count = ${pages}`);
    const results = await Promise.allSettled([insert("x".repeat(100_000)), insert("y".repeat(100_000))]);
    for (const result of results) {
      assert.ok(result.status === "rejected" && result.reason instanceof StorageUnavailable, String(result.status));
    }
    assert.deepEqual(values(), ["earlier"]);
    assert.ok(events.includes("full"));
    connection.pragma("max_page_count = 1000000");
    await insert("later");
    assert.deepEqual(values(), ["earlier", "later"]);
  });

  it("idle waits for queued writes and their flush", async () => {
    const { queue, insert } = openQueue({ maxBatch: 1 });
    const answers: string[] = [];
    for (const value of ["a", "b", "c"]) void insert(value).then(() => answers.push(value));
    await queue.idle();
    assert.deepEqual(answers, ["a", "b", "c"]);
  });
});
