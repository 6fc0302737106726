// Which writes share a commit: those of callers who wait for them first, then those of bulk work such as imports.
import type { DatabaseLimits } from "../dialect.ts";

/** A write that waits for its turn. */
export interface Job {
  readonly body: () => Promise<unknown>;
  /** Whether it belongs to bulk work, which gives way to other writes and shares larger commits. */
  readonly isBulk: boolean;
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
}

/** What bounds a batch. */
export type BatchLimits = Pick<DatabaseLimits, "maxBatch" | "maxBatchMs" | "maxBulkBatch" | "maxBulkBatchMs">;

/** The writes that wait, in the order in which they arrived. */
export class WaitingWrites {
  #foreground: Job[] = [];
  #bulk: Job[] = [];

  get length(): number {
    return this.#foreground.length + this.#bulk.length;
  }

  add(job: Job): void {
    (job.isBulk ? this.#bulk : this.#foreground).push(job);
  }

  /** Puts the jobs before all others, in their order. */
  putBack(jobs: readonly Job[]): void {
    this.#foreground = [...jobs.filter(({ isBulk }) => !isBulk), ...this.#foreground];
    this.#bulk = [...jobs.filter(({ isBulk }) => isBulk), ...this.#bulk];
  }

  /** Empties the queue. */
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
 * The writes of one commit. Nobody waits for a single write of bulk work, so that a batch of them may take longer: pages that many
 * of them change are then written once. As soon as another write joins, the batch ends as soon as one without bulk work.
 */
export class Batch {
  readonly jobs: Job[] = [];
  /** Tells each job, in the order of `jobs`, what became of it. */
  readonly settle: (() => void)[] = [];
  readonly #limits: BatchLimits;
  #due: number;
  #foreground = 0;

  constructor(limits: BatchLimits, now: number) {
    this.#limits = limits;
    this.#due = now + limits.maxBulkBatchMs;
  }

  /** When the batch takes no more writes, on the clock of `performance.now()`. */
  get due(): number {
    return this.#due;
  }

  /** The next write; undefined when the batch is full, late, or nothing waits. */
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
