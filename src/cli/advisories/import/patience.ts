// How long an import waits for a response. One that did not arrive says that the server, or a proxy, takes longer.
import { CommandFailure } from "../../failure.ts";

/** Makes a call, again if it fails for a while. */
export type Retry = <T>(call: () => Promise<T>) => Promise<T>;

/** The timeout of a call. */
export interface CallTimeout {
  readonly timeoutMs: number;
}

/** Makes a call. `isRepeat` says whether an earlier attempt may have been made, whose response did not arrive. */
export type PatientCall<T> = (isRepeat: boolean, options: CallTimeout) => Promise<T>;

/** The maximum patience, as a multiple of the first. */
const most = 8;

/** Returns a function that makes calls with a timeout, which it doubles, for all later calls, when a response does not arrive. */
export function newPatience(firstTimeoutMs: number, retry: Retry): <T>(call: PatientCall<T>) => Promise<T> {
  let timeoutMs = firstTimeoutMs;
  return (call) => {
    let attempts = 0;
    return retry(async () => {
      const waited = timeoutMs;
      try {
        return await call(attempts++ > 0, { timeoutMs });
      } catch (error) {
        // Several calls may wait at the same time: one doubling is enough for all of them.
        if (isTimeout(error)) timeoutMs = Math.max(timeoutMs, Math.min(waited * 2, firstTimeoutMs * most));
        throw error;
      }
    });
  };
}

function isTimeout(error: unknown): boolean {
  return error instanceof CommandFailure && error.status === "DeadlineExceeded";
}
