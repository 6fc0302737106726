import { ApiError, Code } from "../aip/errors.ts";
import { startDeadline } from "./deadlines.ts";
import type { HttpResponse } from "./http-message.ts";

/** The other end of a request, as long as it waits for the answer. */
export interface Client {
  /** Aborted when the client leaves before its answer, or when a deadline passes. */
  signal(): AbortSignal;
  isGone(): boolean;
  /**
   * Waits for the work, but no longer than this and only while the client does: else it throws DEADLINE_EXCEEDED or
   * CANCELLED. The work itself goes on unless it heeds the signal.
   */
  wait<T>(work: Promise<T>, ms: number): Promise<T>;
}

/** Watches for the client to leave. */
export function watchClient(res: HttpResponse): Client {
  // Few methods listen, so that the signal is made when one does.
  let controller: AbortController | undefined;
  let gaveUp: ApiError | undefined;
  let isGone = false;
  let giveUp = nobodyWaits;
  const abort = (error: ApiError) => {
    gaveUp = error;
    controller?.abort(error);
    giveUp(error);
  };
  res.on("close", () => {
    if (res.writableEnded) return;
    isGone = true;
    abort(clientLeft());
  });
  // A connection that breaks while the answer is on its way also closes.
  res.on("error", () => {});
  return {
    signal() {
      controller ??= new AbortController();
      if (gaveUp) controller.abort(gaveUp);
      return controller.signal;
    },
    isGone() {
      return isGone;
    },
    wait<T>(work: Promise<T>, ms: number) {
      return new Promise<T>((resolve, reject) => {
        const inTime = startDeadline(ms, () => abort(tooSlow()));
        giveUp = (error) => {
          inTime();
          reject(error);
        };
        work.then((result) => {
          inTime();
          // What would keep the result until the client has taken the answer.
          giveUp = nobodyWaits;
          resolve(result);
        }, giveUp);
        if (isGone) giveUp(clientLeft());
      });
    },
  };
}

function nobodyWaits(_error: ApiError): void {}

/** CANCELLED, for nobody to read. */
export function clientLeft(): ApiError {
  return new ApiError(Code.CANCELLED, "Cancelled: the client left");
}

function tooSlow(): ApiError {
  return new ApiError(Code.DEADLINE_EXCEEDED, "Deadline exceeded: the method took too long");
}
