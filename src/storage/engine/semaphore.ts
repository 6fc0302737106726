import { StorageUnavailable } from "./errors.ts";

/** Limits of a semaphore. */
export interface SemaphoreOptions {
  /** How many bodies may run at the same time. */
  readonly permits: number;
  /** How many may wait; one more is rejected. */
  readonly maxWaiting: number;
  /** How long each may wait, in milliseconds. */
  readonly maxWaitMs: number;
}

/** Limits how many bodies run at the same time. */
export interface Semaphore {
  /**
   * Runs the body when a permit is free, first come, first served. Rejects with StorageUnavailable if too many wait, or
   * if none becomes free in time.
   */
  run<T>(body: () => Promise<T>): Promise<T>;
}

/** Creates a semaphore with all permits free. */
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

  /** Passes the permit to the longest waiting body, without freeing it in between. */
  function release(): void {
    const [next] = waiting;
    if (!next) free++;
    else {
      waiting.delete(next);
      next();
    }
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
