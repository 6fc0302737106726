// Polls whether the program can serve, once for all watchers, and not at all without watchers.
import { setTimeout } from "node:timers/promises";

/** The state to poll, the interval, and the maximum number of watchers. */
export interface StatePollOptions {
  /** Whether the program can serve. */
  look(): Promise<boolean>;
  readonly intervalMs: number;
  readonly maxFollowers: number;
  /** Aborted when the program starts to drain. From then on it cannot serve. */
  readonly draining: AbortSignal;
}

/** Follows the state until disposed. */
export interface Follower extends Disposable {
  /** Resolves with the state once it is known and differs from `seen`; undefined if the signal aborts first. */
  next(seen: boolean | undefined, signal: AbortSignal): Promise<boolean | undefined>;
}

/** Passes the state to followers. */
export interface StatePoll {
  /** Adds a follower; undefined if the maximum is reached. */
  follow(): Follower | undefined;
}

/** Makes a poll that starts with its first follower and ends within an interval after its last. */
export function newStatePoll({ look, intervalMs, maxFollowers, draining }: StatePollOptions): StatePoll {
  const state = newAwaitedState();
  let followers = 0;
  let isPolling = false;

  async function poll(): Promise<void> {
    isPolling = true;
    while (followers > 0 && !draining.aborted) {
      state.set(await look());
      await pause(intervalMs, draining);
    }
    isPolling = false;
    state.set(draining.aborted ? false : undefined);
  }

  return {
    follow() {
      if (followers >= maxFollowers) return undefined;
      followers++;
      if (!isPolling) void poll();
      return {
        next: state.next,
        [Symbol.dispose]() {
          followers--;
        },
      };
    },
  };
}

/** Holds the state, and resolves the promises of calls that wait for it to change. */
function newAwaitedState() {
  const waiting = new Set<() => void>();
  let state: boolean | undefined;

  function set(found: boolean | undefined): void {
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

  return { set, next };
}

/** Waits for the time to pass or for the signal. */
async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await setTimeout(milliseconds, undefined, { signal }).catch(() => {});
}
