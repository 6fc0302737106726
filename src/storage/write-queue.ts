import type BetterSqlite from "better-sqlite3";
import { onceUnlocked } from "./busy.ts";
import { driverCode, StorageUnavailable, translateError } from "./errors.ts";

/** The bounds of the queue, and what it does around its commits. */
export interface WriteQueueOptions {
  /** How many writes share one commit at most. */
  readonly maxBatch: number;
  /**
   * How long a batch is made, in milliseconds; what has not been run by then is left to the next. Other processes wait for
   * its lock, and its callers for a reply.
   */
  readonly maxBatchMs: number;
  /** How many writes may wait; one more is refused. */
  readonly maxWaiting: number;
  /** How long another process may hold the write lock, in milliseconds. */
  readonly lockTimeoutMs: number;
  /** What the next batch has to wait for, if anything; when it rejects, no write may be made now. */
  readonly room?: () => Promise<void> | undefined;
  /** How many snapshots were begun so far by those who read: one for each turn of the event loop that reads. */
  readonly snapshotsBegun?: () => number;
  /** Called when a write found the disk full. */
  readonly afterFull?: () => void;
  /** Called when a flush failed. */
  readonly afterUnflushed?: () => void;
  /** Called right before each commit. */
  readonly beforeCommit?: () => void;
  /** Resolves once everything committed before the call is on disk. */
  readonly sync: () => Promise<void>;
}

/** The writes of one connection. */
export interface WriteQueue {
  /**
   * Runs the body inside a transaction and answers once its commit is on disk.
   *
   * A body touches the database and nothing else: the write connection is held while it runs. One that throws fails alone, and
   * nothing of it stays. It may run again, for another's sake.
   */
  run<T>(body: () => Promise<T>): Promise<T>;
  /** Resolves when nothing waits any more. */
  idle(): Promise<void>;
}

/** How long those who read go first after a write, as a multiple of the time that it took: they get up to three quarters. */
const readingShare = 3;

/** How many writes of a batch are answered in one turn: their clients send the next ones at once, and all others would wait. */
const settledAtOnce = 8;

/** How many batches are made with savepoints after one that lacked them. */
const guardedAfterFailure = 100;

/** A write has failed after it had written something, and there is no savepoint to go back to. */
class HalfDone extends Error {}

interface Job {
  readonly body: () => Promise<unknown>;
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Group commit on one SQLite connection: the writes that arrive while others are made or flushed share a transaction and
 * one flush to disk.
 *
 * A savepoint would have SQLite copy every page that a write changes. Nearly all writes succeed, or fail before they have written
 * anything: only after one that did not, the batch is made anew, and so are those that follow, with a savepoint for each write.
 */
export function newWriteQueue(connection: BetterSqlite.Database, options: WriteQueueOptions): WriteQueue {
  const begin = connection.prepare("BEGIN IMMEDIATE");
  const commit = connection.prepare("COMMIT");
  const rollback = connection.prepare("ROLLBACK");
  const savepoint = connection.prepare("SAVEPOINT member");
  const release = connection.prepare("RELEASE member");
  const undo = connection.prepare("ROLLBACK TO member");
  const rowsWritten = connection.prepare("SELECT total_changes()").pluck();
  const waiting: Job[] = [];
  let active: Promise<void> | undefined;
  let guardedBatches = 0;

  async function runMember(job: Job, isGuarded: boolean): Promise<() => void> {
    const before = rowsWritten.get();
    if (isGuarded) savepoint.run();
    try {
      const value = await job.body();
      if (isGuarded) release.run();
      return () => job.resolve(value as never);
    } catch (error) {
      noteFull(error);
      // On a full disk SQLite may have rolled back everything by itself; then all of the batch fail, and for this.
      if (!connection.inTransaction) throw error;
      if (isGuarded) {
        undo.run();
        release.run();
      } else if (rowsWritten.get() !== before) throw new HalfDone();
      return () => job.reject(translateError(error));
    }
  }

  /** The batch is to be made anew, with savepoints. */
  function makeAnew(batch: readonly Job[]): void {
    guardedBatches = guardedAfterFailure;
    waiting.unshift(...batch);
  }

  /** Whoever arrives while a batch is made comes along. */
  function join(batch: Job[]): void {
    batch.push(...waiting.splice(0, options.maxBatch - batch.length));
  }

  /**
   * Lets whatever else waits go first: for one turn, and until this moment for more, as long as each of them reads. The
   * replies of a turn leave at the beginning of the next.
   */
  async function giveWay(until: number): Promise<void> {
    let before: number | undefined;
    do {
      before = options.snapshotsBegun?.();
      await nextTurn();
    } while (options.snapshotsBegun?.() !== before && performance.now() < until);
  }

  async function settleAll(settle: readonly (() => void)[]): Promise<void> {
    for (const [index, member] of settle.entries()) {
      if (index > 0 && index % settledAtOnce === 0) await nextTurn();
      member();
    }
  }

  async function commitBatch(): Promise<void> {
    const batch: Job[] = [];
    const settle: (() => void)[] = [];
    const isGuarded = guardedBatches > 0;
    if (isGuarded) guardedBatches--;
    join(batch);
    try {
      await lock();
      const due = performance.now() + options.maxBatchMs;
      join(batch);
      while (settle.length < batch.length) {
        const began = performance.now();
        settle.push(await runMember(batch[settle.length]!, isGuarded));
        const ended = performance.now();
        // Reads come between any two writes, and before the commit; the transaction stays open meanwhile.
        if (batch.length > 1) await giveWay(Math.min(ended + readingShare * (ended - began), due));
        if (performance.now() < due) join(batch);
        else waiting.unshift(...batch.splice(settle.length));
      }
      options.beforeCommit?.();
      commit.run();
    } catch (error) {
      abandon();
      if (error instanceof HalfDone) return makeAnew(batch);
      noteFull(error);
      for (const job of batch) job.reject(translateError(error));
      return;
    }
    try {
      await options.sync();
      await settleAll(settle);
    } catch (cause) {
      options.afterUnflushed?.();
      for (const job of batch) job.reject(new StorageUnavailable("the write could not be flushed", { cause }));
    }
  }

  /** Whoever waits when the lock is given up has waited for the same one: none of them waits for it once more. */
  async function lock(): Promise<void> {
    try {
      await onceUnlocked(() => begin.run(), options.lockTimeoutMs);
    } catch (error) {
      refuseWaiting(error);
      throw error;
    }
  }

  function refuseWaiting(error: unknown): void {
    for (const job of waiting.splice(0)) job.reject(translateError(error));
  }

  function noteFull(error: unknown): void {
    if (driverCode(error) === "SQLITE_FULL") options.afterFull?.();
  }

  function abandon(): void {
    try {
      if (connection.inTransaction) rollback.run();
    } catch {
      // The next batch cannot begin then, and says why.
    }
  }

  async function drain(): Promise<void> {
    while (waiting.length > 0) {
      if (await hasRoom()) await commitBatch();
      await nextTurn();
    }
    active = undefined;
  }

  async function hasRoom(): Promise<boolean> {
    const room = options.room?.();
    try {
      if (room) await room;
      return true;
    } catch (error) {
      refuseWaiting(error);
      return false;
    }
  }

  return {
    run<T>(body: () => Promise<T>): Promise<T> {
      if (waiting.length >= options.maxWaiting) {
        return Promise.reject(new StorageUnavailable("too many writes are waiting"));
      }
      return new Promise<T>((resolve, reject) => {
        waiting.push({ body, resolve, reject });
        active ??= new Promise<void>((start) => setImmediate(start)).then(drain);
      });
    },
    async idle() {
      while (active) await active;
    },
  };
}

/** Lets whatever else waits for the event loop go first. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
