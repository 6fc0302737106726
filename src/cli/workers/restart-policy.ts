// Decides when a worker that ended is started again, and when the program gives up.

/** Milliseconds before each start that follows an early end. After one more early end the program ends. */
const delaysMs = [0, 250, 500, 1000, 2000, 4000];

/** A worker that ends sooner after its start has ended early. */
const earlyMs = 10_000;

/** The restarts of one worker. */
export interface RestartPolicy {
  /** How many times in a row the worker has ended early. */
  readonly earlyEnds: number;
  /** Returns how long to wait before the next start after a life of `livedMs`; undefined to give up. */
  delayAfter(livedMs: number): number | undefined;
}

/** Creates the policy of one worker. */
export function newRestartPolicy(): RestartPolicy {
  let earlyEnds = 0;
  return {
    get earlyEnds() {
      return earlyEnds;
    },
    delayAfter(livedMs) {
      earlyEnds = livedMs < earlyMs ? earlyEnds + 1 : 0;
      return delaysMs[Math.max(0, earlyEnds - 1)];
    },
  };
}
