// Repeats a call that failed.

/** The options for repeating a call. */
export interface RetryOptions {
  /** Returns the delay before the next attempt in milliseconds, or undefined to give up. `retries` counts the retries before. */
  delayMs(error: unknown, retries: number): number | undefined;
  /** Called before each delay. */
  onDelay?(error: unknown, delayMs: number): void;
  /** Aborting it ends a delay and stops retries. */
  readonly signal?: AbortSignal | undefined;
}

/** Makes a call until it succeeds or `delayMs` gives up, and then fails with the last error. */
export async function withRetries<T>(call: () => Promise<T>, options: RetryOptions): Promise<T> {
  const { delayMs, onDelay, signal } = options;
  for (let retries = 0; ; retries++) {
    try {
      return await call();
    } catch (error) {
      const waitMs = signal?.aborted ? undefined : delayMs(error, retries);
      if (waitMs === undefined) throw error;
      onDelay?.(error, waitMs);
      await sleep(waitMs, signal);
      if (signal?.aborted) throw error;
    }
  }
}

/** Resolves after a delay, or when the signal is aborted. */
export function sleep(delayMs: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, delayMs);
    signal?.addEventListener("abort", end);
    if (signal?.aborted) end();
  });
}
