// Group commit on PostgreSQL: writes that arrive together share a transaction, its round trips and its flush to disk.
import type pg from "pg";
import type { DialectTransaction } from "../dialect.ts";
import { driverCode, StorageUnavailable } from "../errors.ts";
import type { WriteLifetime } from "../session.ts";
import { lockTimeout, translatePostgresError } from "./errors.ts";
import {
  type Batch,
  FailedBatch,
  failingAsBatch,
  type Job,
  type Outcome,
  runGuarded,
  runTogether,
  type WriteBody,
} from "./write-batch.ts";
import { NeedsOwnTransaction } from "./write-member.ts";

/** The dependencies and limits of a write queue. */
export interface WriteQueueOptions {
  /** How many writes share one commit. */
  readonly maxBatch: number;
  /** How many writes may wait. */
  readonly maxWaiting: number;
  /** How long a write may wait for its batch, in milliseconds. */
  readonly maxWaitMs: number;
  /** Runs the body in a write transaction that waits only shortly for locks; it may run again on another connection. */
  transact<T>(
    /** Its statements that change rows must wait for `begun`. */
    body: (client: pg.PoolClient, begun: Promise<void>) => Promise<T>,
    /** Its statements are sent together with COMMIT. */
    finish: (result: T) => Promise<unknown>,
  ): Promise<T>;
  /** Creates the transaction that the writes of a batch share. */
  newTransaction(client: pg.PoolClient): DialectTransaction;
  /** Writes the work that the writes of a batch deferred. It sends all statements at once. */
  finish(tx: DialectTransaction): Promise<void>;
  /** Runs a write in a transaction of its own, and retries it after conflicts. */
  runAlone<T>(body: WriteBody<T>, lifetime: WriteLifetime | undefined): Promise<T>;
  /** Whether `runAlone` might succeed after this error. */
  needsRetry(error: unknown): boolean;
}

/** How many writes are acknowledged per event-loop tick. All their responses at once would delay all reads. */
const acknowledgedPerTick = 4;

/** How many batches use savepoints after one that needed them. */
const batchesWithSavepoints = 20;

/** Acknowledges the writes of a batch. */
type Acknowledge = () => void;

/**
 * Runs writes in batches, one batch at a time.
 *
 * The writes of a batch run one after another, so each sees what those before it did. Independent writes run at the same
 * time: their statements are sent together.
 *
 * Nearly all writes succeed, or fail before they change anything. If one fails later, the batch is rolled back. It and
 * the following batches then run with a savepoint for each write.
 */
export class WriteQueue {
  readonly #options: WriteQueueOptions;
  #waiting: Job[] = [];
  #active: Promise<void> | undefined;
  #expiry: NodeJS.Timeout | undefined;
  #guardedBatches = 0;

  constructor(options: WriteQueueOptions) {
    this.#options = options;
  }

  /** Runs the body in a transaction, and resolves once it has committed. If it throws, only its own changes are undone. */
  run<T>(body: WriteBody<T>, isIndependent: boolean, lifetime?: WriteLifetime): Promise<T> {
    const { maxWaiting, maxWaitMs } = this.#options;
    if (this.#waiting.length >= maxWaiting)
      return Promise.reject(new StorageUnavailable("too many writes are waiting"));
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ body, isIndependent, dueAt: performance.now() + maxWaitMs, lifetime, resolve, reject });
      this.#expiry ??= setTimeout(() => this.#expire(), maxWaitMs);
      this.#active ??= this.#drain();
    });
  }

  /** Resolves once no write waits. */
  async idle(): Promise<void> {
    while (this.#active) await this.#active;
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) {
      // The other writes of this event-loop tick join.
      await nextTick();
      let acknowledge = await this.#commit(this.#nextJobs());
      // The next batch begins before the responses of this one are made.
      while (this.#waiting.length > 0) {
        setImmediate(acknowledge);
        acknowledge = await this.#commit(this.#nextJobs());
      }
      acknowledge();
    }
    this.#active = undefined;
    clearTimeout(this.#expiry);
    this.#expiry = undefined;
  }

  /** Takes the writes of the next batch. Rejects those whose callers have given up. */
  #nextJobs(): readonly Job[] {
    return this.#waiting.splice(0, this.#options.maxBatch).filter(({ lifetime, reject }) => {
      const reason = lifetime?.ended;
      if (reason) reject(reason);
      return !reason;
    });
  }

  /** Rejects the writes that have waited too long for their batch. */
  #expire(): void {
    const now = performance.now();
    const late = this.#waiting.filter(({ dueAt }) => dueAt <= now);
    this.#waiting = this.#waiting.filter(({ dueAt }) => dueAt > now);
    for (const { reject } of late) reject(new StorageUnavailable("the writes before this one take too long"));
    const [next] = this.#waiting;
    this.#expiry = next && setTimeout(() => this.#expire(), Math.max(1, next.dueAt - now));
  }

  /** Runs a batch. Returns the function that acknowledges its writes. */
  async #commit(jobs: readonly Job[]): Promise<Acknowledge> {
    const isGuarded = this.#guardedBatches > 0;
    if (isGuarded) this.#guardedBatches--;
    const committed = this.#options.transact(
      (client, begun) => failingAsBatch(this.#runBatch(client, begun, jobs, isGuarded)),
      ({ tx, sent }) => failingAsBatch(Promise.all([...sent, this.#options.finish(tx)])),
    );
    return await committed.then(
      ({ outcomes }) =>
        () =>
          this.#acknowledge(outcomes),
      (error) => {
        this.#afterRollback(jobs, isGuarded, error);
        return () => {};
      },
    );
  }

  #afterRollback(jobs: readonly Job[], isGuarded: boolean, error: unknown): void {
    if (!(error instanceof FailedBatch)) {
      for (const { reject } of jobs) reject(translatePostgresError(error));
    } else if (isGuarded) {
      for (const job of jobs) this.#runAlone(job);
    } else {
      this.#guardedBatches = batchesWithSavepoints;
      this.#waiting.unshift(...jobs);
    }
  }

  async #runBatch(
    client: pg.PoolClient,
    begun: Promise<void>,
    jobs: readonly Job[],
    isGuarded: boolean,
  ): Promise<Batch> {
    const tx = this.#options.newTransaction(client);
    return { tx, ...(await (isGuarded ? runGuarded : runTogether)(client, { tx, begun }, jobs)) };
  }

  #acknowledge(outcomes: readonly Outcome[]): void {
    for (const outcome of outcomes.slice(0, acknowledgedPerTick)) this.#settle(outcome);
    if (outcomes.length > acknowledgedPerTick)
      setImmediate(() => this.#acknowledge(outcomes.slice(acknowledgedPerTick)));
  }

  #settle({ job, result }: Outcome): void {
    if (result.status === "fulfilled") job.resolve(result.value as never);
    else if (this.#mayPassAlone(result.reason)) this.#runAlone(job);
    else job.reject(translatePostgresError(result.reason));
  }

  #mayPassAlone(error: unknown): boolean {
    return error instanceof NeedsOwnTransaction || driverCode(error) === lockTimeout || this.#options.needsRetry(error);
  }

  #runAlone({ body, lifetime, resolve, reject }: Job): void {
    this.#options.runAlone(body, lifetime).then((value) => resolve(value as never), reject);
  }
}

function nextTick(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
