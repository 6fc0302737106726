// Shares reads of a value that others change. The age of a value counts from the start of its read, so slow responses
// of the database do not make it seem newer (docs/decisions/0041).
import { isPromise, type MaybePromise } from "./maybe-promise.ts";

/** Reads a value for all callers. */
export interface Reader<T> {
  /** Returns the value from a read that started at most `maxAgeMs` before the call. */
  current(): MaybePromise<T>;
  /** Returns the value from a read that starts after the call. Concurrent callers share it. */
  latest(): MaybePromise<T>;
  /** Reports whether `current` would return synchronously. */
  isCurrent(): boolean;
  /** Makes all later calls wait for a read that starts after this one. */
  invalidate(): void;
}

/** The number of concurrent reads: one without a response does not block the others. */
const maxReadings = 4;

interface Reading<T> {
  readonly startedAt: number;
  /** The number of invalidations before it started. */
  readonly generation: number;
  readonly value: PromiseLike<T>;
}

/** The maximum age of a value, and the time limit of a read. */
export interface ReaderLimits {
  readonly maxAgeMs: number;
  /** How long to wait for a read before another one starts in parallel. */
  readonly patienceMs: number;
}

/** Creates a reader without a value. */
export function newReader<T>(read: () => MaybePromise<T>, { maxAgeMs, patienceMs }: ReaderLimits): Reader<T> {
  let generation = 0;
  let known: (Pick<Reading<T>, "startedAt" | "generation"> & { readonly value: T }) | undefined;
  let running: readonly Reading<T>[] = [];
  let next: Promise<T> | undefined;

  const isYoung = (reading: Pick<Reading<T>, "startedAt" | "generation">) =>
    reading.generation === generation && performance.now() - reading.startedAt < maxAgeMs;

  function start(): MaybePromise<T> {
    const begun = { startedAt: performance.now(), generation };
    const value = read();
    if (!isPromise(value)) return learn(begun, value);
    const reading = { ...begun, value: value.then((found) => learn(begun, found)) };
    running = [...running, reading];
    const end = () => {
      running = running.filter((each) => each !== reading);
    };
    reading.value.then(end, end);
    return reading.value;
  }

  function learn(begun: Pick<Reading<T>, "startedAt" | "generation">, value: T): T {
    // An earlier read may finish later.
    if (!known || begun.startedAt >= known.startedAt) known = { ...begun, value };
    return value;
  }

  /** Shares the next read. It starts when a running one ends or exceeds its limit, if the number of reads allows it. */
  function startNext(): Promise<T> {
    next ??= hasRoom().then(() => {
      next = undefined;
      return start();
    });
    return next;
  }

  async function hasRoom(): Promise<void> {
    do {
      await endOrPause(running, patienceMs);
    } while (running.length >= maxReadings);
  }

  return {
    current() {
      if (known && isYoung(known)) return known.value;
      const newest = running.at(-1);
      if (newest && isYoung(newest)) return newest.value;
      return running.length < maxReadings ? start() : startNext();
    },
    latest: () => (running.length === 0 && !next ? start() : startNext()),
    isCurrent: () => known !== undefined && isYoung(known),
    invalidate() {
      generation++;
    },
  };
}

/** Waits for one of the reads to end, for at most this long. */
async function endOrPause(readings: readonly Pick<Reading<unknown>, "value">[], pauseMs: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, pauseMs);
  const end = () => resolve();
  for (const { value } of readings) value.then(end, end);
  await promise;
  clearTimeout(timer);
}
