// Retries calls while a server is unavailable or busy.
import { setTimeout as sleep } from "node:timers/promises";
import { CommandFailure } from "../failure.ts";

/** The delays between retries, in milliseconds: one minute in total, in which a server can restart. */
const pausesMs = [500, 1000, 2000, 4000, 8000, 16_000, 30_000];

/** The statuses of calls that may succeed later. Empty means no response. */
const transient = ["", "Unavailable", "DeadlineExceeded", "ResourceExhausted", "Aborted"];

/** Reports whether the same call may succeed later. */
export function isTransient(error: unknown): error is CommandFailure {
  return error instanceof CommandFailure && error.exitCode !== 2 && transient.includes(error.status);
}

/** Options of retries. */
export interface RetryOptions {
  /** Called before each delay. */
  onPause(error: CommandFailure, pauseMs: number): void;
  /** Aborting it stops retries. */
  readonly signal: AbortSignal;
  readonly pausesMs?: readonly number[];
}

/**
 * Creates a function that retries idempotent calls. It does not retry until the server has responded once, because the
 * address may be wrong.
 */
export function newRetries(options: RetryOptions): <T>(call: () => Promise<T>) => Promise<T> {
  const { onPause, signal, pausesMs: pauses = pausesMs } = options;
  let hasAnswered = false;
  return async (call) => {
    for (let tries = 0; ; tries++) {
      try {
        const result = await call();
        hasAnswered = true;
        return result;
      } catch (error) {
        const pauseMs = pauses[tries];
        if (!isTransient(error) || pauseMs === undefined || signal.aborted) throw error;
        if (error.status === "" && !hasAnswered) throw error;
        onPause(error, pauseMs);
        await sleep(pauseMs, undefined, { signal }).catch(() => {});
      }
    }
  };
}
