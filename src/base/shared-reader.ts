// A value that many ask for, and that others change. Its age counts from the moment when its reading begins: how late the
// database answers makes no difference (docs/decisions/0041).
import { isPromise, type MaybePromise } from "./maybe-promise.ts";

/** Reads a value for everybody who asks. */
export interface Reader<T> {
  /** The value, from a reading that began `maxAgeMs` before the call at the earliest. */
  current(): MaybePromise<T>;
  /** The value, from a reading that began after the call. Those who ask meanwhile share the next reading. */
  latest(): MaybePromise<T>;
  /** Whether `current` would answer at once. */
  isCurrent(): boolean;
  /** Makes every later call wait for a reading that begins after this one. */
  invalidate(): void;
}

/** How many readings may run at once: one that gets no answer does not hold up all others. */
const maxReadings = 4;

interface Reading<T> {
  readonly startedAt: number;
  /** How often the value had been invalidated when it began. */
  readonly generation: number;
  readonly value: PromiseLike<T>;
}

/** How old a value may be, and how long a reading holds up the next one. */
export interface ReaderLimits {
  readonly maxAgeMs: number;
  /** How long a reading is waited for before another one begins beside it. */
  readonly patienceMs: number;
}

/** Makes a reader that knows nothing yet. */
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
    // A reading that began earlier may end later.
    if (!known || begun.startedAt >= known.startedAt) known = { ...begun, value };
    return value;
  }

  /** Shares the next reading: it begins once one of those that run has ended, or may take too long, as far as there is room. */
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

/** Waits for one of the readings to end, for this long at most. */
async function endOrPause(readings: readonly Pick<Reading<unknown>, "value">[], pauseMs: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, pauseMs);
  const end = () => resolve();
  for (const { value } of readings) value.then(end, end);
  await promise;
  clearTimeout(timer);
}
