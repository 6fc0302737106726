// Limits the open streams of a process, and of one caller.
import { rateLimited } from "../../../aip/errors.ts";
import { watchLimits } from "./limits.ts";

/** Counts open streams. */
export interface WatchAdmission {
  /** The number of open streams. */
  readonly open: number;
  /** Counts a stream of a caller until it is disposed of. Throws TOO_MANY_WATCHES if there are too many. */
  enter(caller: string): Disposable;
}

/** Makes the count of a process. */
export function newWatchAdmission(maxWatches: number): WatchAdmission {
  const ofCallers = new Map<string, number>();
  let open = 0;
  return {
    get open() {
      return open;
    },
    enter(caller) {
      const own = ofCallers.get(caller) ?? 0;
      if (own >= watchLimits.watchesOfCaller) throw tooMany(`${watchLimits.watchesOfCaller} streams of one caller`);
      if (open >= maxWatches) throw tooMany(`${maxWatches} streams (--max-watches)`);
      ofCallers.set(caller, own + 1);
      open++;
      return {
        [Symbol.dispose]() {
          open--;
          const left = ofCallers.get(caller)! - 1;
          if (left === 0) ofCallers.delete(caller);
          else ofCallers.set(caller, left);
        },
      };
    },
  };
}

function tooMany(limit: string) {
  return rateLimited(
    `a server has at most ${limit} at a time; use ListChanges, or try again later`,
    watchLimits.retryMs,
    "TOO_MANY_WATCHES",
  );
}
