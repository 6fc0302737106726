// Periodic tasks: the background loops of a server.

/** Options of a periodic task. */
export interface PeriodicTaskOptions {
  /** Called with the first of several failures in a row. */
  readonly logFailure: (error: unknown) => void;
  /** Starts no more runs once it is aborted. */
  readonly signal?: AbortSignal;
}

/** A task that runs periodically. Disposing stops it and waits for the run in progress. */
export interface PeriodicTask extends AsyncDisposable {
  /** Runs the task once, from a time after the call; resolves when it has run. Failures are logged. */
  runNow(): Promise<void>;
}

/** Runs a task every so many milliseconds. Skips a run while the one before is still in progress. */
export function every(
  intervalMs: number,
  task: () => Promise<void>,
  { logFailure, signal }: PeriodicTaskOptions,
): PeriodicTask {
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
  const start = () => {
    running ??= run().finally(() => {
      running = undefined;
    });
    return running;
  };
  const timer = setInterval(start, intervalMs).unref();
  const stop = () => clearInterval(timer);
  signal?.addEventListener("abort", stop, { once: true });
  return {
    async runNow() {
      await running;
      await start();
    },
    async [Symbol.asyncDispose]() {
      stop();
      await running;
    },
  };
}

/** Runs a task every so many milliseconds, and a last time when it is disposed. Failures are logged. */
export function everyAndAtEnd(
  intervalMs: number,
  task: (isLast: boolean) => Promise<void>,
  logFailure: (error: unknown) => void,
): AsyncDisposable {
  const repeated = every(intervalMs, () => task(false), { logFailure });
  return {
    async [Symbol.asyncDispose]() {
      await repeated[Symbol.asyncDispose]();
      await task(true).catch(logFailure);
    },
  };
}
