import type { WriteKind } from "../dialect.ts";

/** A waiting write. */
export interface Job extends Pick<WriteKind, "isBulk" | "isAlone" | "isLarge" | "lifetime"> {
  readonly body: () => Promise<unknown>;
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
}

/** The waiting writes, in order of arrival. Those whose callers have given up are rejected instead of taken. */
export class WaitingWrites {
  #foreground: Job[] = [];
  #bulk: Job[] = [];
  readonly #large: Job[] = [];
  #largeDueAt = 0;

  get length(): number {
    return this.#foreground.length + this.#bulk.length + this.#large.length;
  }

  add(job: Job): void {
    this.#listOf(job).push(job);
  }

  /** Puts the jobs back at the front, in their order. */
  putBack(jobs: readonly Job[]): void {
    this.#foreground = [...jobs.filter(({ isBulk }) => !isBulk), ...this.#foreground];
    this.#bulk = [...jobs.filter(({ isBulk }) => isBulk), ...this.#bulk];
  }

  /** Removes and returns all jobs. */
  clear(): Job[] {
    const jobs = [...this.#foreground, ...this.#bulk, ...this.#large.splice(0)];
    [this.#foreground, this.#bulk] = [[], []];
    return jobs;
  }

  hasForeground(): boolean {
    return this.#foreground.length > 0;
  }

  /** Whether a write waits that is not large. */
  hasSmall(): boolean {
    return this.#foreground.length + this.#bulk.length > 0;
  }

  /** Whether the next write that a caller waits for shares its commit with no other. */
  isNextAlone(): boolean {
    return this.#foreground[0]?.isAlone === true;
  }

  /** Returns in how many milliseconds the next large write may begin; undefined if none waits. */
  largeDueIn(now: number): number | undefined {
    return this.#large.length > 0 ? Math.max(0, this.#largeDueAt - now) : undefined;
  }

  /** Lets other writes go first after a large one, for as long as they have waited for it. */
  pauseLarge(now: number, heldMs: number): void {
    this.#largeDueAt = now + heldMs;
  }

  takeForeground(): Job | undefined {
    return takeFrom(this.#foreground);
  }

  takeBulk(): Job | undefined {
    return takeFrom(this.#bulk);
  }

  takeLarge(): Job | undefined {
    return takeFrom(this.#large);
  }

  #listOf({ isLarge, isBulk }: Job): Job[] {
    if (isLarge) return this.#large;
    return isBulk ? this.#bulk : this.#foreground;
  }
}

function takeFrom(jobs: Job[]): Job | undefined {
  for (let job = jobs.shift(); job; job = jobs.shift()) {
    const reason = job.lifetime?.ended;
    if (!reason) return job;
    job.reject(reason);
  }
  return undefined;
}
