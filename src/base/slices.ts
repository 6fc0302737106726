// Divides long computations into slices. Between two slices, of whichever computation, the event loop serves other requests.
import { AsyncLocalStorage } from "node:async_hooks";

/** How long a computation keeps the event loop, in milliseconds. */
const sliceMs = 5;

/** The pause between two slices, in milliseconds: the shortest timer. Requests that arrived are answered in it. */
const pauseMs = 1;

/** A computation whose time is measured. */
export interface Work {
  /** The time that it took, without that in which it waited for its next slice or for a write, in milliseconds. */
  usedMs(): number;
}

class RunningWork implements Work {
  readonly signal: AbortSignal | undefined;
  #usedMs = 0;
  /** Undefined while it waits. */
  #resumedAt: number | undefined = performance.now();

  constructor(signal: AbortSignal | undefined) {
    this.signal = signal;
  }

  usedMs(): number {
    return this.#usedMs + this.sliceMs();
  }

  /** Returns how long it has been running since it waited. */
  sliceMs(): number {
    return this.#resumedAt === undefined ? 0 : performance.now() - this.#resumedAt;
  }

  stop(): void {
    this.#usedMs = this.usedMs();
    this.#resumedAt = undefined;
  }

  resume(): void {
    this.#resumedAt = performance.now();
  }
}

const current = new AsyncLocalStorage<RunningWork>();
const waiting: (() => void)[] = [];
let lastSliceAt = 0;

/** Runs a computation whose time is measured. What it calls belongs to it. It ends between two slices when the signal is aborted. */
export function measureWork<T>(signal: AbortSignal | undefined, body: (work: Work) => Promise<T>): Promise<T> {
  const work = new RunningWork(signal);
  return current.run(work, () => body(work));
}

/** Whether the caller is part of a measured computation. */
export function isInWork(): boolean {
  return current.getStore() !== undefined;
}

/** Waits for something other than a computation, such as a lock. Its time does not count. */
export function withoutCounting<T>(body: () => Promise<T>): Promise<T> {
  const work = current.getStore();
  if (!work) return body();
  work.stop();
  return body().finally(() => work.resume());
}

/**
 * Returns a promise to await once the slice of the computation has ended, otherwise undefined. Call it in every loop whose length a caller
 * decides: `for (const item of items) { await nextSlice(); … }`. Rejects when nobody waits for the computation any more.
 */
export function nextSlice(): Promise<void> | undefined {
  const work = current.getStore();
  const usedMs = work ? work.sliceMs() : performance.now() - lastSliceAt;
  if (usedMs < sliceMs) return undefined;
  work?.stop();
  return new Promise((resolve, reject) => {
    const resume = () => {
      work?.resume();
      if (work?.signal?.aborted) reject(work.signal.reason);
      else resolve();
    };
    if (waiting.push(resume) === 1) setTimeout(runNext, pauseMs);
  });
}

/** Starts the slice of one computation. The others wait: a request that arrives waits for one slice, however many computations run. */
function runNext(): void {
  const resume = waiting.shift()!;
  if (waiting.length > 0) setTimeout(runNext, pauseMs);
  lastSliceAt = performance.now();
  resume();
}

/** Maps items in slices. */
export async function mapSliced<T, R>(items: readonly T[], map: (item: T, index: number) => R): Promise<R[]> {
  const results: R[] = [];
  for (const [i, item] of items.entries()) {
    await nextSlice();
    results.push(map(item, i));
  }
  return results;
}
