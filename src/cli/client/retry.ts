// Retries calls while a server is unavailable or busy.
import { withRetries } from "../../../packages/client/src/retry.ts";
import { CommandFailure, untrustedCertificate } from "../failure.ts";

/** The delays between retries, in milliseconds: one minute in total, in which a server can restart. */
const pausesMs = [500, 1000, 2000, 4000, 8000, 16_000, 30_000];

/** The statuses of calls that may succeed later. Empty means no response. */
const transient = ["", "Unavailable", "DeadlineExceeded", "ResourceExhausted", "Aborted"];

/** Reports whether the same call may succeed later. */
export function isTransient(error: unknown): error is CommandFailure {
  if (!(error instanceof CommandFailure) || error.exitCode === 2) return false;
  return transient.includes(error.status) && error.reason !== untrustedCertificate;
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
  const delayMs = (error: unknown, retries: number) =>
    isTransient(error) && (error.status !== "" || hasAnswered) ? pauses[retries] : undefined;
  const onDelay = (error: unknown, pauseMs: number) => {
    if (error instanceof CommandFailure) onPause(error, pauseMs);
  };
  return async (call) => {
    const result = await withRetries(call, { delayMs, onDelay, signal });
    hasAnswered = true;
    return result;
  };
}
