// Periodic tasks: the background loops of a server.

/** Options of a periodic task. */
export interface PeriodicTaskOptions {
  /** Called with the first of several failures in a row. */
  readonly logFailure: (error: unknown) => void;
  /** Starts no more runs once it is aborted. */
  readonly signal?: AbortSignal;
}

/**
 * Runs a task every so many milliseconds. Skips a run while the one before is still in progress. Disposing stops it and
 * waits for the run in progress.
 */
export function every(
  intervalMs: number,
  task: () => Promise<void>,
  { logFailure, signal }: PeriodicTaskOptions,
): AsyncDisposable {
  let isFailing = false;
  let running: Promise<void> | undefined;
  const run = async () => {
    try {
      await task();
      isFailing = false;
    } catch (error) {
      if (!isFailing) logFailure(error);
      isFailing = true;
    }
  };
  const timer = setInterval(() => {
    running ??= run().finally(() => {
      running = undefined;
    });
  }, intervalMs).unref();
  const stop = () => clearInterval(timer);
  signal?.addEventListener("abort", stop, { once: true });
  return {
    async [Symbol.asyncDispose]() {
      stop();
      await running;
    },
  };
}
