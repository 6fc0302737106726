// Decides which writes share a commit: first those that callers wait for, then bulk writes such as imports.
import type { DatabaseLimits } from "../dialect.ts";

/** A waiting write. */
export interface Job {
  readonly body: () => Promise<unknown>;
  /** Whether it is bulk work, which yields to other writes and shares larger commits. */
  readonly isBulk: boolean;
  /** Whether it changes much and may fail late, and so always has a savepoint. */
  readonly isLarge: boolean;
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
}

/** The limits of a batch. */
export type BatchLimits = Pick<DatabaseLimits, "maxBatch" | "maxBatchMs" | "maxBulkBatch" | "maxBulkBatchMs">;

/** The waiting writes, in order of arrival. */
export class WaitingWrites {
  #foreground: Job[] = [];
  #bulk: Job[] = [];

  get length(): number {
    return this.#foreground.length + this.#bulk.length;
  }

  add(job: Job): void {
    (job.isBulk ? this.#bulk : this.#foreground).push(job);
  }

  /** Puts the jobs back at the front, in their order. */
  putBack(jobs: readonly Job[]): void {
    this.#foreground = [...jobs.filter(({ isBulk }) => !isBulk), ...this.#foreground];
    this.#bulk = [...jobs.filter(({ isBulk }) => isBulk), ...this.#bulk];
  }

  /** Removes and returns all jobs. */
  clear(): Job[] {
    const jobs = [...this.#foreground, ...this.#bulk];
    [this.#foreground, this.#bulk] = [[], []];
    return jobs;
  }

  hasForeground(): boolean {
    return this.#foreground.length > 0;
  }

  takeForeground(): Job | undefined {
    return this.#foreground.shift();
  }

  takeBulk(): Job | undefined {
    return this.#bulk.shift();
  }
}

/**
 * The writes of one commit. No caller waits for a single bulk write, so a batch of them may take longer: pages that
 * several of them change are then written once. As soon as another write joins, the time limit is that of a batch
 * without bulk work.
 */
export class Batch {
  readonly jobs: Job[] = [];
  /** Settles each job, in the order of `jobs`. */
  readonly settle: (() => void)[] = [];
  readonly #limits: BatchLimits;
  #due: number;
  #foreground = 0;

  constructor(limits: BatchLimits, now: number) {
    this.#limits = limits;
    this.#due = now + limits.maxBulkBatchMs;
  }

  /** When the batch stops taking writes, in milliseconds of `performance.now()`. */
  get due(): number {
    return this.#due;
  }

  /** Returns the next write, or undefined if the batch is full or late, or if no write waits. */
  take(waiting: WaitingWrites, now: number): Job | undefined {
    const { maxBatch, maxBatchMs, maxBulkBatch } = this.#limits;
    if (this.#foreground === 0 && waiting.hasForeground()) this.#due = Math.min(this.#due, now + maxBatchMs);
    if (now >= this.#due && this.jobs.length > 0) return undefined;
    const job = this.#foreground < maxBatch ? waiting.takeForeground() : undefined;
    if (job) this.#foreground++;
    const taken = job ?? (this.jobs.length - this.#foreground < maxBulkBatch ? waiting.takeBulk() : undefined);
    if (taken) this.jobs.push(taken);
    return taken;
  }
}
