import { StorageUnavailable } from "./errors.ts";

/** How many may run and wait. */
export interface SemaphoreOptions {
  /** How many may run at once. */
  readonly permits: number;
  /** How many may wait; one more is refused. */
  readonly maxWaiting: number;
  /** How long each of them waits, in milliseconds. */
  readonly maxWaitMs: number;
}

/** Lets only so many run at once. */
export interface Semaphore {
  /**
   * Runs the body when a permit is free, first come first served. Rejects with StorageUnavailable when too many wait already,
   * or when none becomes free in time.
   */
  run<T>(body: () => Promise<T>): Promise<T>;
}

/** Makes one that nobody holds. */
export function newSemaphore({ permits, maxWaiting, maxWaitMs }: SemaphoreOptions): Semaphore {
  let free = permits;
  const waiting = new Set<() => void>();

  async function acquire(): Promise<void> {
    if (free > 0) {
      free--;
      return;
    }
    if (waiting.size >= maxWaiting) throw new StorageUnavailable("too many writes are waiting");
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    waiting.add(resolve);
    const timer = setTimeout(() => {
      waiting.delete(resolve);
      reject(new StorageUnavailable("the writes before this one take too long"));
    }, maxWaitMs);
    await promise.finally(() => clearTimeout(timer));
  }

  /** A permit goes to who waits longest, without becoming free in between. */
  function release(): void {
    const [next] = waiting;
    if (!next) {
      free++;
      return;
    }
    waiting.delete(next);
    next();
  }

  return {
    async run(body) {
      await acquire();
      try {
        return await body();
      } finally {
        release();
      }
    },
  };
}
