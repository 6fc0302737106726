// Divides long computations into slices. Between two slices, of whichever computation, the event loop serves other requests.
import { AsyncLocalStorage } from "node:async_hooks";

// Those of the process, for ever: a test that replaces the timers of the part that it tests must not stop the slices of all others.
const { setTimeout, setImmediate } = globalThis;

/** How long a computation keeps the event loop, in milliseconds. */
const sliceMs = 3;

/** The shortest pause between two slices, in milliseconds: the shortest timer. Requests that arrived are answered in it. */
const pauseMs = 1;

/**
 * How much longer than a slice the pause behind it is while other requests are served. With 8, computations take a ninth of the time, and one
 * in a hundred other requests meets a slice that garbage collection or a large message prolongs.
 */
const restFactor = 8;

/** The longest pause, in milliseconds: a slice that the system interrupted, such as a machine that slept, must not stop all computations. */
const maxRestMs = 1000;

/** A computation whose time is measured. */
export interface Work {
  /**
   * Returns the time that it took, in milliseconds: without that in which it waited for its next slice or for a write, but with the rest
   * that its slices imposed on all computations.
   */
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

  add(ms: number): void {
    this.#usedMs += ms;
  }

  stop(): void {
    // Beyond a slice it waited for the database, which imposes no rest.
    this.#usedMs += this.sliceMs() + restAfter(Math.min(sliceMs, this.sliceMs()));
    this.#resumedAt = undefined;
  }

  resume(): void {
    this.#resumedAt = performance.now();
  }
}

const current = new AsyncLocalStorage<RunningWork>();
const waiting: (() => void)[] = [];
/** The start of the last slice, and the earliest start of the next one, by performance.now(). */
let lastSliceAt = 0;
let restsUntil = 0;
/** Whether a slice runs, or a timer starts the next one. */
let isScheduled = false;
let others = 0;
let othersBefore = 0;

/** Counts a request that is not part of a computation: while there are any, computations rest longer. */
export function countOther(): void {
  others++;
}

/**
 * Waits for a first slice, then runs a computation and measures its time, with that of all functions that it calls. If
 * the signal is aborted, the computation ends at its next slice.
 */
export async function measureWork<T>(signal: AbortSignal | undefined, body: (work: Work) => Promise<T>): Promise<T> {
  await firstSlice();
  signal?.throwIfAborted();
  const work = new RunningWork(signal);
  return await current.run(work, () => body(work));
}

/** Returns a promise to await before a step of some milliseconds that cannot be divided; undefined if nothing else runs or waits. */
export function firstSlice(): Promise<void> | undefined {
  if (isScheduled || performance.now() < restsUntil) return new Promise(waitForSlice);
  startSlice();
  return undefined;
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
 * Waits for the part of a computation that another thread does. The CPU time that the thread reports counts, in milliseconds, not that of the
 * wait: the thread may serve others first.
 */
export async function countThread<T extends { readonly usedMs: number }>(body: () => Promise<T>): Promise<T> {
  const work = current.getStore();
  const done = await withoutCounting(body);
  work?.add(done.usedMs);
  return done;
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
    waitForSlice(resume);
  });
}

function waitForSlice(start: () => void): void {
  waiting.push(start);
  schedule();
}

/** Schedules the next slice. The other computations wait: a request that arrives waits for one slice, however many run. */
function schedule(): void {
  if (isScheduled || waiting.length === 0) return;
  isScheduled = true;
  setTimeout(() => startSlice(waiting.shift()), Math.max(pauseMs, restsUntil - performance.now()));
}

function startSlice(start?: () => void): void {
  isScheduled = true;
  lastSliceAt = performance.now();
  start?.();
  // The computation continues in a microtask, so its slice ends before the next immediate.
  setImmediate(endSlice);
}

function endSlice(): void {
  const now = performance.now();
  restsUntil = now + restAfter(now - lastSliceAt);
  othersBefore = others;
  isScheduled = false;
  schedule();
}

/** Returns how long computations rest after a slice, in milliseconds: not at all if no other request came since the slice before. */
function restAfter(ms: number): number {
  return others === othersBefore ? 0 : Math.min(maxRestMs, restFactor * ms);
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
