import { ApiError, Code } from "../../aip/errors.ts";
import type { HttpResponse } from "./http-message.ts";

/** The other end of a request. */
export interface Client {
  /** Aborted when the client leaves before its answer, or when the deadline passes. */
  readonly signal: AbortSignal;
  isGone(): boolean;
  abort(reason: ApiError): void;
}

/** Watches for the client to leave. */
export function watchClient(res: HttpResponse): Client {
  const controller = new AbortController();
  let isGone = false;
  res.on("close", () => {
    if (res.writableEnded) return;
    isGone = true;
    controller.abort(new ApiError(Code.CANCELLED, "Cancelled: the client left"));
  });
  // A connection that breaks while the answer is on its way also closes.
  res.on("error", () => {});
  return { signal: controller.signal, isGone: () => isGone, abort: (reason) => controller.abort(reason) };
}

/** Waits for the work, but no longer than this: then it throws DEADLINE_EXCEEDED and tells the work by the signal. */
export function withDeadline<T>(work: Promise<T>, ms: number, client: Client): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      const error = new ApiError(Code.DEADLINE_EXCEEDED, "Deadline exceeded: the method took too long");
      client.abort(error);
      reject(error);
    }, ms);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
