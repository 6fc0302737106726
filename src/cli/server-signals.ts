// What operators ask of a running server by signals: to stop, and to read its settings again.

/** How long a repeated signal counts as the same one: a terminal signals the whole group, a launcher passes it on. */
const sameSignalMs = 1000;

const stopSignals = ["SIGINT", "SIGTERM"] as const;

/** Signals that ask the program to stop. Disposing of it gives them back their own effect, which ends the process. */
export interface StopSignals extends Disposable {
  /** Resolves at the first one. A further one, unless it is the same, ends the process at once. */
  readonly stopped: Promise<void>;
  /** Waits, though no longer than to a further signal, which then does no more than that. */
  pause(ms: number): Promise<void>;
}

/** Listens for SIGINT and SIGTERM; a launcher passes on to us what it gets, which we may have got as well. */
export function listenForStop(hasLauncher: boolean): StopSignals {
  const { promise: stopped, resolve } = Promise.withResolvers<void>();
  let endPause: (() => void) | undefined;
  let lastAt: number | undefined;
  const onSignal = (signal: NodeJS.Signals) => {
    const now = performance.now();
    const isRepeated = lastAt !== undefined && now - lastAt <= sameSignalMs;
    if (lastAt === undefined) resolve();
    else if (endPause) {
      if (isRepeated && (signal === "SIGINT" || hasLauncher)) return;
      endPause();
    } else if (isRepeated) return;
    // Not process.exit(), which waits for threads: one may hang in opening a pipe that nobody writes to.
    else {
      stopListening();
      process.kill(process.pid, signal);
    }
    lastAt = now;
  };
  const stopListening = () => {
    for (const signal of stopSignals) process.off(signal, onSignal);
  };
  for (const signal of stopSignals) process.on(signal, onSignal);
  return {
    stopped,
    [Symbol.dispose]: stopListening,
    async pause(ms) {
      const { promise: ended, resolve: end } = Promise.withResolvers<void>();
      endPause = end;
      const timer = setTimeout(end, ms);
      await ended;
      clearTimeout(timer);
      endPause = undefined;
    },
  };
}

/** Calls `reload`, which must not reject, at each SIGHUP: once at a time, and once for all that come meanwhile. */
export function listenForReload(reload: () => Promise<void>): void {
  let isRunning = false;
  let isWanted = false;
  process.on("SIGHUP", async () => {
    isWanted = true;
    if (isRunning) return;
    isRunning = true;
    while (isWanted) {
      isWanted = false;
      await reload();
    }
    isRunning = false;
  });
}
