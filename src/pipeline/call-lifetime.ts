// The lifetime of a call: its deadline, and whether the clock or the result of a write decides the response.
import { ApiError, Code } from "../aip/errors.ts";
import type { WriteLifetime } from "../storage/engine/session.ts";

/** The lifetime of a call. */
export interface CallLifetime extends WriteLifetime {
  /** Makes the response wait for the result of the work. A write calls this before it begins, since only it knows whether it was made. */
  awaitResult(): void;
}

/** The lifetime of a call whose transport says when it ends. */
export class WorkLifetime implements CallLifetime {
  // Made on first use: few methods listen.
  #controller: AbortController | undefined;
  #ended: ApiError | undefined;
  #awaitsResult = false;
  #hasCommitted = false;

  /** Aborted when the client leaves before the response, or when the deadline passes. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#ended) this.#controller.abort(this.#ended);
    return this.#controller.signal;
  }

  /**
   * Returns the reason why no further write may commit. A response must not deny a completed write: after a commit, only the client's
   * disconnect ends the rest.
   */
  get ended(): ApiError | undefined {
    return this.#hasCommitted && this.#ended?.code === Code.DEADLINE_EXCEEDED ? undefined : this.#ended;
  }

  /** Whether the response waits for the result of the work, also after its end. */
  get awaitsResult(): boolean {
    return this.#awaitsResult;
  }

  awaitResult(): void {
    this.#awaitsResult = true;
  }

  committed(): void {
    this.#hasCommitted = true;
  }

  /** Ends the work. A client that leaves after the deadline ends it again. */
  end(reason: ApiError): void {
    this.#ended = reason;
    this.#controller?.abort(reason);
  }
}

/** CANCELLED. No client receives it. */
export function clientDisconnected(): ApiError {
  return new ApiError(Code.CANCELLED, "Cancelled: the client left");
}

/** DEADLINE_EXCEEDED, of a call that has changed nothing. */
export function deadlineExceeded(): ApiError {
  return new ApiError(Code.DEADLINE_EXCEEDED, "Deadline exceeded: the method took too long and changed nothing");
}
