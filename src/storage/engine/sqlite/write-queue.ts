import type BetterSqlite from "better-sqlite3";
import type { WriteKind } from "../dialect.ts";
import { driverCode, StorageUnavailable } from "../errors.ts";
import { requireLifetime } from "../session.ts";
import { WriteTurns } from "../write-turns.ts";
import { translateSqliteError } from "./errors.ts";
import { retryWhileLocked } from "./retry-locked.ts";
import { type Job, WaitingWrites } from "./waiting-writes.ts";
import { Batch } from "./write-batch.ts";
import type { WriteQueueOptions } from "./write-queue-options.ts";

/** How long reads go first after a write, as a multiple of its duration: they get up to three quarters of the time. */
const readingShare = 3;

/**
 * How many writes are acknowledged per event-loop tick: their clients send the next ones immediately, which would delay
 * all others.
 */
const acknowledgedPerTick = 8;

/** How many batches use savepoints after one that needed them. */
const batchesWithSavepoints = 100;

/** A write failed after it had changed rows, and there is no savepoint to return to. */
class PartialWrite extends Error {}

/**
 * Group commit on one SQLite connection: writes that arrive while others run or flush share a transaction and one flush
 * to disk.
 *
 * With savepoints, SQLite copies every page that a write changes. Nearly all writes succeed, or fail before they change
 * anything. So savepoints are used only after a write that failed later: its batch runs again with one for each write,
 * and so do the following batches.
 *
 * A write that changes much has a transaction of its own instead: it needs no savepoint, and others never run again
 * because of it. Large ones run one at a time, with a pause for the others after each.
 */
export class WriteQueue {
  readonly #connection: BetterSqlite.Database;
  readonly #options: WriteQueueOptions;
  readonly #statements: ReturnType<typeof prepareAll>;
  readonly #waiting = new WaitingWrites();
  /** The turns of the processes that write to the file. */
  readonly turns = new WriteTurns(() => this.#start());
  #active: Promise<void> | undefined;
  /** Ends the pause before the next large write. */
  #wake: (() => void) | undefined;
  #guardedBatches = 0;

  constructor(connection: BetterSqlite.Database, options: WriteQueueOptions) {
    this.#connection = connection;
    this.#options = options;
    this.#statements = prepareAll(connection);
  }

  /**
   * Runs the body in a transaction, and resolves once its commit is on disk.
   *
   * The body must only use the database: it holds the write connection. If it throws, only its own changes are undone.
   * It may run again because of another write. Bulk writes yield to all others (write-batch.ts).
   */
  run<T>(body: () => Promise<T>, { isBulk, isAlone, isLarge, lifetime }: WriteKind = {}): Promise<T> {
    if (this.#waiting.length >= this.#options.maxWaiting) {
      return Promise.reject(new StorageUnavailable("too many writes are waiting"));
    }
    return new Promise<T>((resolve, reject) => {
      this.#waiting.add({ body, isBulk, isAlone, isLarge, lifetime, resolve, reject });
      this.#start();
    });
  }

  #start(): void {
    this.#wake?.();
    this.#active ??= nextTick().then(() => this.#drain());
  }

  /** Resolves once no write waits. */
  async idle(): Promise<void> {
    while (this.#active) await this.#active;
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0 || this.turns.areWanted) {
      await this.turns.lendNext();
      if (this.#waiting.length > 0 && (await this.#hasRoom())) await this.#commitNext();
      await nextTick();
    }
    this.#active = undefined;
  }

  /** Commits a batch of small writes and then a large write, if there are any. Waits if neither may begin. */
  async #commitNext(): Promise<void> {
    if (this.#waiting.hasSmall()) await this.#commitBatch();
    const dueIn = this.#waiting.largeDueIn(performance.now());
    if (dueIn === 0) await this.#commitLarge();
    else if (dueIn !== undefined && !this.#waiting.hasSmall() && !this.turns.areWanted) await this.#pause(dueIn);
  }

  async #commitLarge(): Promise<void> {
    const began = performance.now();
    await this.#commitBatch(true);
    const ended = performance.now();
    this.#waiting.pauseLarge(ended, ended - began);
  }

  /** Waits until a write arrives, for so many milliseconds at most. */
  async #pause(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    const timer = setTimeout(resolve, ms);
    await promise;
    clearTimeout(timer);
    this.#wake = undefined;
  }

  async #hasRoom(): Promise<boolean> {
    try {
      this.#options.check?.();
      const room = this.#options.waitForRoom?.();
      if (room) await room;
      return true;
    } catch (error) {
      this.#rejectWaiting(error);
      return false;
    }
  }

  async #commitBatch(isLarge = false): Promise<void> {
    const endTurn = await this.turns.take();
    try {
      await this.#commitInTurn(isLarge);
    } finally {
      endTurn?.();
    }
  }

  async #commitInTurn(isLarge: boolean): Promise<void> {
    if (!(await this.#lock())) return;
    const batch = new Batch(this.#options, performance.now(), isLarge);
    try {
      this.#options.begin?.();
      await this.#runAll(batch);
      await this.#options.finish?.();
      requireLifetime(batch.alone?.lifetime);
      this.#options.beforeCommit?.();
      this.#statements.commit.run();
    } catch (error) {
      this.#rollBack();
      if (error instanceof PartialWrite) return this.#retryWithSavepoints(batch.jobs);
      this.#noteFull(error);
      for (const job of batch.jobs) job.reject(translateSqliteError(error));
      return;
    }
    await this.#flush(batch);
  }

  /** Runs the writes of a batch, including those that arrive meanwhile. */
  async #runAll(batch: Batch): Promise<void> {
    const isGuarded = this.#guardedBatches > 0;
    if (isGuarded) this.#guardedBatches--;
    let began = performance.now();
    for (let job = batch.take(this.#waiting, began); job; job = batch.take(this.#waiting, began)) {
      batch.settle.push(await (batch.alone ? runAlone(job) : this.#runMember(job, isGuarded)));
      const ended = performance.now();
      const isAlone = batch.jobs.length === 1 && this.#waiting.length === 0;
      // Reads run between any two writes and before the commit, while the transaction is open.
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
      // On a full disk SQLite may roll back the transaction itself; then the whole batch fails with this error.
      if (!this.#connection.inTransaction) throw error;
      if (isGuarded) {
        undo.run();
        release.run();
      } else if (rowsWritten.get() !== before) throw new PartialWrite();
      return () => job.reject(translateSqliteError(error));
    }
  }

  /** Acknowledges the writes of a commit once it is on disk. */
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
      for (const job of jobs) job.reject(translateSqliteError(error));
      return;
    }
    for (const [index, member] of settle.entries()) {
      if (index > 0 && index % acknowledgedPerTick === 0) await nextTick();
      member();
    }
  }

  /** Runs the batch again with savepoints. */
  #retryWithSavepoints(batch: readonly Job[]): void {
    this.#guardedBatches = batchesWithSavepoints;
    this.#waiting.putBack(batch);
  }

  /**
   * Yields to other work: for one event-loop tick, or until `until` as long as each tick has reads. The responses of a
   * tick are sent at the beginning of the next.
   */
  async #yieldToReaders(until: number): Promise<void> {
    const { readTicks: turnsOfReaders } = this.#options;
    let before: number | undefined;
    do {
      before = turnsOfReaders?.();
      await nextTick();
    } while (turnsOfReaders?.() !== before && performance.now() < until);
  }

  /**
   * Begins the transaction. If the lock is not available in time, every waiting write has waited for it, and is
   * rejected.
   */
  async #lock(): Promise<boolean> {
    try {
      await retryWhileLocked(() => this.#statements.begin.run(), this.#options.lockTimeoutMs);
      return true;
    } catch (error) {
      this.#noteFull(error);
      this.#rejectWaiting(error);
      return false;
    }
  }

  #rejectWaiting(error: unknown): void {
    for (const job of this.#waiting.clear()) job.reject(translateSqliteError(error));
  }

  #noteFull(error: unknown): void {
    if (driverCode(error) === "SQLITE_FULL") this.#options.afterFull?.();
  }

  #rollBack(): void {
    try {
      if (this.#connection.inTransaction) this.#statements.rollback.run();
    } catch {
      // The next batch then fails to begin, and reports the error.
    }
  }
}

/** The transaction fails with the only write in it. */
async function runAlone({ body, resolve }: Job): Promise<() => void> {
  const value = await body();
  return () => resolve(value as never);
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

/** Resolves after other work of the event loop. */
function nextTick(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
