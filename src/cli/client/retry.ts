// Calls that are tried again while a server is away or busy.
import { setTimeout as sleep } from "node:timers/promises";
import { CommandFailure } from "../failure.ts";

/** The pauses before a call is tried again, in milliseconds: a minute together, in which a server can restart. */
const pausesMs = [500, 1000, 2000, 4000, 8000, 16_000, 30_000];

/** What an unanswered call fails with, and the codes of answers that may be others in a while. */
const transient = ["", "Unavailable", "DeadlineExceeded", "ResourceExhausted", "Aborted"];

/** Whether the same call may succeed in a while: no server, or one that is busy. */
export function isTransient(error: unknown): error is CommandFailure {
  return error instanceof CommandFailure && error.exitCode !== 2 && transient.includes(error.status);
}

/** How calls are tried again. */
export interface RetryOptions {
  /** Called before each pause. */
  onPause(error: CommandFailure, pauseMs: number): void;
  /** No call is tried again once it is aborted. */
  readonly signal: AbortSignal;
  readonly pausesMs?: readonly number[];
}

/** Makes calls, which must be idempotent. A server that has never answered is not waited for: its address may be wrong. */
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
