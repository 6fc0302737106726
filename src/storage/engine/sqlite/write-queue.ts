import type BetterSqlite from "better-sqlite3";
import { driverCode, StorageUnavailable, translateError } from "../errors.ts";
import { retryWhileLocked } from "./retry-locked.ts";
import { Batch, type BatchLimits, type Job, WaitingWrites } from "./write-batch.ts";

/** The bounds of the queue, and what it does around its commits. */
export interface WriteQueueOptions extends BatchLimits {
  /** How many writes may wait; one more is refused. */
  readonly maxWaiting: number;
  /** How long another process may hold the write lock, in milliseconds. */
  readonly lockTimeoutMs: number;
  /** What the next batch has to wait for, if anything; when it rejects, no write may be made now. */
  readonly waitForRoom?: () => Promise<void> | undefined;
  /** How many turns of the event loop have read so far. */
  readonly readTicks?: () => number;
  /** Called when a write found the disk full. */
  readonly afterFull?: () => void;
  /** Called when a flush failed. */
  readonly afterFailedFlush?: () => void;
  /** Called when a batch begins, also one that is made anew. */
  readonly begin?: () => void;
  /** Writes what the writes of a batch have left for its end. */
  readonly finish?: () => Promise<void>;
  /** Called right before each commit. */
  readonly beforeCommit?: () => void;
  /** Resolves once everything committed before the call is on disk. */
  readonly sync: () => Promise<void>;
  /** Called before a batch is made and before it is acknowledged; throws where neither may happen. */
  readonly check?: () => void;
}

/** How long those who read go first after a write, as a multiple of the time that it took: they get up to three quarters. */
const readingShare = 3;

/** How many writes of a batch are answered in one turn: their clients send the next ones at once, and all others would wait. */
const acknowledgedPerTick = 8;

/** How many batches are made with savepoints after one that lacked them. */
const batchesWithSavepoints = 100;

/** A write has failed after it had written something, and there is no savepoint to go back to. */
class PartialWrite extends Error {}

/**
 * Group commit on one SQLite connection: the writes that arrive while others are made or flushed share a transaction and
 * one flush to disk.
 *
 * A savepoint would have SQLite copy every page that a write changes. Nearly all writes succeed, or fail before they have written
 * anything: only after one that did not, the batch is made anew, and so are those that follow, with a savepoint for each write.
 */
export class WriteQueue {
  readonly #connection: BetterSqlite.Database;
  readonly #options: WriteQueueOptions;
  readonly #statements: ReturnType<typeof prepareAll>;
  readonly #waiting = new WaitingWrites();
  #active: Promise<void> | undefined;
  #guardedBatches = 0;

  constructor(connection: BetterSqlite.Database, options: WriteQueueOptions) {
    this.#connection = connection;
    this.#options = options;
    this.#statements = prepareAll(connection);
  }

  /**
   * Runs the body inside a transaction and answers once its commit is on disk.
   *
   * A body touches the database and nothing else: the write connection is held while it runs. One that throws fails alone, and
   * nothing of it stays. It may run again, for another's sake. A write of bulk work gives way to all others (write-batch.ts).
   */
  run<T>(body: () => Promise<T>, isBulk = false): Promise<T> {
    if (this.#waiting.length >= this.#options.maxWaiting) {
      return Promise.reject(new StorageUnavailable("too many writes are waiting"));
    }
    return new Promise<T>((resolve, reject) => {
      this.#waiting.add({ body, isBulk, resolve, reject });
      this.#active ??= nextTick().then(() => this.#drain());
    });
  }

  /** Resolves when nothing waits any more. */
  async idle(): Promise<void> {
    while (this.#active) await this.#active;
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) {
      if (await this.#hasRoom()) await this.#commitBatch();
      await nextTick();
    }
    this.#active = undefined;
  }

  async #hasRoom(): Promise<boolean> {
    try {
      this.#options.check?.();
      const room = this.#options.waitForRoom?.();
      if (room) await room;
      return true;
    } catch (error) {
      this.#refuseWaiting(error);
      return false;
    }
  }

  async #commitBatch(): Promise<void> {
    if (!(await this.#lock())) return;
    const batch = new Batch(this.#options, performance.now());
    try {
      this.#options.begin?.();
      await this.#runAll(batch);
      await this.#options.finish?.();
      this.#options.beforeCommit?.();
      this.#statements.commit.run();
    } catch (error) {
      this.#rollBack();
      if (error instanceof PartialWrite) return this.#retryWithSavepoints(batch.jobs);
      this.#noteFull(error);
      for (const job of batch.jobs) job.reject(translateError(error));
      return;
    }
    await this.#flush(batch);
  }

  /** Runs the writes of a batch, those that arrive meanwhile too. */
  async #runAll(batch: Batch): Promise<void> {
    const isGuarded = this.#guardedBatches > 0;
    if (isGuarded) this.#guardedBatches--;
    let began = performance.now();
    for (let job = batch.take(this.#waiting, began); job; job = batch.take(this.#waiting, began)) {
      batch.settle.push(await this.#runMember(job, isGuarded));
      const ended = performance.now();
      const isAlone = batch.jobs.length === 1 && this.#waiting.length === 0;
      // Reads come between any two writes, and before the commit; the transaction stays open meanwhile.
      if (!isAlone) await this.#yieldToReaders(Math.min(ended + readingShare * (ended - began), batch.due));
      began = performance.now();
    }
  }

  async #runMember(job: Job, isGuarded: boolean): Promise<() => void> {
    const { savepoint, release, undo, rowsWritten } = this.#statements;
    const before = rowsWritten.get();
    if (isGuarded) savepoint.run();
    try {
      const value = await job.body();
      if (isGuarded) release.run();
      return () => job.resolve(value as never);
    } catch (error) {
      this.#noteFull(error);
      // On a full disk SQLite may have rolled back everything by itself; then all of the batch fail, and for this.
      if (!this.#connection.inTransaction) throw error;
      if (isGuarded) {
        undo.run();
        release.run();
      } else if (rowsWritten.get() !== before) throw new PartialWrite();
      return () => job.reject(translateError(error));
    }
  }

  /** Acknowledges what was committed, once it is on disk. */
  async #flush({ jobs, settle }: Batch): Promise<void> {
    try {
      await this.#options.sync();
    } catch (cause) {
      this.#options.afterFailedFlush?.();
      for (const job of jobs) job.reject(new StorageUnavailable("the write could not be flushed", { cause }));
      return;
    }
    try {
      this.#options.check?.();
    } catch (error) {
      for (const job of jobs) job.reject(translateError(error));
      return;
    }
    for (const [index, member] of settle.entries()) {
      if (index > 0 && index % acknowledgedPerTick === 0) await nextTick();
      member();
    }
  }

  /** The batch is to be made anew, with savepoints. */
  #retryWithSavepoints(batch: readonly Job[]): void {
    this.#guardedBatches = batchesWithSavepoints;
    this.#waiting.putBack(batch);
  }

  /**
   * Lets whatever else waits go first: for one turn, and until this moment for more, as long as each of them reads. The
   * replies of a turn leave at the beginning of the next.
   */
  async #yieldToReaders(until: number): Promise<void> {
    const { readTicks: turnsOfReaders } = this.#options;
    let before: number | undefined;
    do {
      before = turnsOfReaders?.();
      await nextTick();
    } while (turnsOfReaders?.() !== before && performance.now() < until);
  }

  /** Begins the transaction. Without the lock in time, every write that waits has waited for it, and is refused. */
  async #lock(): Promise<boolean> {
    try {
      await retryWhileLocked(() => this.#statements.begin.run(), this.#options.lockTimeoutMs);
      return true;
    } catch (error) {
      this.#noteFull(error);
      this.#refuseWaiting(error);
      return false;
    }
  }

  #refuseWaiting(error: unknown): void {
    for (const job of this.#waiting.clear()) job.reject(translateError(error));
  }

  #noteFull(error: unknown): void {
    if (driverCode(error) === "SQLITE_FULL") this.#options.afterFull?.();
  }

  #rollBack(): void {
    try {
      if (this.#connection.inTransaction) this.#statements.rollback.run();
    } catch {
      // The next batch cannot begin then, and says why.
    }
  }
}

function prepareAll(connection: BetterSqlite.Database) {
  return {
    begin: connection.prepare("BEGIN IMMEDIATE"),
    commit: connection.prepare("COMMIT"),
    rollback: connection.prepare("ROLLBACK"),
    savepoint: connection.prepare("SAVEPOINT member"),
    release: connection.prepare("RELEASE member"),
    undo: connection.prepare("ROLLBACK TO member"),
    rowsWritten: connection.prepare("SELECT total_changes()").pluck(),
  };
}

/** Lets whatever else waits for the event loop go first. */
function nextTick(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
