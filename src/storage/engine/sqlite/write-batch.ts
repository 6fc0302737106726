// Decides which writes share a commit: first those that callers wait for, then bulk writes such as imports.
import type { DatabaseLimits } from "../dialect.ts";
import type { Job, WaitingWrites } from "./waiting-writes.ts";

/** The limits of a batch. */
export type BatchLimits = Pick<DatabaseLimits, "maxBatch" | "maxBatchMs" | "maxBulkBatch" | "maxBulkBatchMs">;

/**
 * The writes of one commit. No caller waits for a single bulk write, so a batch of them may take longer: pages that
 * several of them change are then written once. As soon as another write joins, the time limit is that of a batch
 * without bulk work. A write that is alone shares its commit with no other.
 */
export class Batch {
  readonly jobs: Job[] = [];
  /** Settles each job, in the order of `jobs`. */
  readonly settle: (() => void)[] = [];
  readonly #limits: BatchLimits;
  readonly #isLarge: boolean;
  #due: number;
  #foreground = 0;

  constructor(limits: BatchLimits, now: number, isLarge = false) {
    this.#limits = limits;
    this.#isLarge = isLarge;
    this.#due = now + limits.maxBulkBatchMs;
  }

  /** The time when the batch stops accepting writes, in milliseconds of `performance.now()`. */
  get due(): number {
    return this.#due;
  }

  /** Returns the only write of the batch, if it has its transaction for itself. */
  get alone(): Job | undefined {
    const [job] = this.jobs;
    return job?.isAlone || job?.isLarge ? job : undefined;
  }

  /** Returns the next write, or undefined if the batch is full or late, or if no write waits that may join. */
  take(waiting: WaitingWrites, now: number): Job | undefined {
    const taken = this.#next(waiting, now);
    if (taken) this.jobs.push(taken);
    return taken;
  }

  #next(waiting: WaitingWrites, now: number): Job | undefined {
    if (this.alone) return undefined;
    const isEmpty = this.jobs.length === 0;
    if (this.#isLarge) return isEmpty ? waiting.takeLarge() : undefined;
    const { maxBatch, maxBatchMs, maxBulkBatch } = this.#limits;
    if (this.#foreground === 0 && waiting.hasForeground()) this.#due = Math.min(this.#due, now + maxBatchMs);
    if (now >= this.#due && !isEmpty) return undefined;
    // It is the first of the next batch.
    if (!isEmpty && waiting.isNextAlone()) return undefined;
    const job = this.#foreground < maxBatch ? waiting.takeForeground() : undefined;
    if (job) this.#foreground++;
    return job ?? (this.jobs.length - this.#foreground < maxBulkBatch ? waiting.takeBulk() : undefined);
  }
}
