// Whether the program can serve, looked at again and again for everybody who watches it: one look, however many watch, and
// none while nobody does.
import { setTimeout } from "node:timers/promises";

/** What is looked at, how often, and for how many. */
export interface StatePollOptions {
  /** Whether the program can serve. */
  look(): Promise<boolean>;
  readonly intervalMs: number;
  readonly maxFollowers: number;
  /** Aborted when the program begins to stop: from then on it cannot serve. */
  readonly draining: AbortSignal;
}

/** Follows the state until it is disposed of. */
export interface Follower extends Disposable {
  /** The state as soon as it is known and another one than `seen`; undefined when the signal aborts before. */
  next(seen: boolean | undefined, signal: AbortSignal): Promise<boolean | undefined>;
}

/** Tells followers of the state. */
export interface StatePoll {
  /** Another follower; undefined when there are as many as there may be. */
  follow(): Follower | undefined;
}

/** Makes a poll that begins with its first follower and ends within an interval of its last. */
export function newStatePoll({ look, intervalMs, maxFollowers, draining }: StatePollOptions): StatePoll {
  const waiting = new Set<() => void>();
  let followers = 0;
  let isPolling = false;
  let state: boolean | undefined;

  async function poll(): Promise<void> {
    isPolling = true;
    while (followers > 0 && !draining.aborted) {
      tell(await look());
      await pause(intervalMs, draining);
    }
    isPolling = false;
    tell(draining.aborted ? false : undefined);
  }

  function tell(found: boolean | undefined): void {
    if (found === state) return;
    state = found;
    for (const wake of [...waiting]) wake();
  }

  /** Resolves when the state has changed, or the signal aborts. */
  function woken(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      function wake() {
        waiting.delete(wake);
        signal.removeEventListener("abort", wake);
        resolve();
      }
      waiting.add(wake);
      signal.addEventListener("abort", wake);
    });
  }

  async function next(seen: boolean | undefined, signal: AbortSignal): Promise<boolean | undefined> {
    while (!signal.aborted) {
      if (state !== undefined && state !== seen) return state;
      await woken(signal);
    }
    return undefined;
  }

  return {
    follow() {
      if (followers >= maxFollowers) return undefined;
      followers++;
      if (!isPolling) void poll();
      return {
        next,
        [Symbol.dispose]() {
          followers--;
        },
      };
    },
  };
}

/** Waits for the time to pass or for the signal. */
async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await setTimeout(milliseconds, undefined, { signal }).catch(() => {});
}
