// Signals to a running server: stop, and reload the settings.

/**
 * The time during which a repeated signal counts as the same one, in milliseconds: a terminal signals the whole group, and a launcher
 * forwards it as well.
 */
const sameSignalMs = 1000;

const stopSignals = ["SIGINT", "SIGTERM"] as const;

/** Signals to stop. Disposing restores their default effect, which ends the process. */
export interface StopSignals extends Disposable {
  /** Resolves at the first signal. Another one, unless it is the same, ends the process immediately. */
  readonly stopped: Promise<void>;
  /** Waits for this time, or until another signal, which then has no other effect. */
  pause(ms: number): Promise<void>;
}

/** Listens for SIGINT and SIGTERM. A launcher forwards signals that this process may have received already. */
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
    // Not process.exit(), which waits for threads: one may hang opening a pipe without a writer.
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

/**
 * Calls `reload`, which must not reject, at each SIGHUP: one call at a time, and one for all signals that arrive during
 * a call.
 */
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
