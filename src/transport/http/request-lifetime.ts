import { ApiError, Code } from "../../aip/errors.ts";
import { Deadline } from "./deadline.ts";
import type { HttpResponse } from "./message.ts";

/** How long a request is worked on: until its response, its deadline, or until the client disconnects. */
export class RequestLifetime {
  // Made on first use: few methods listen.
  #controller: AbortController | undefined;
  #abortReason: ApiError | undefined;
  #isDisconnected = false;
  #deadlineMs: number | undefined;
  #deadline: Deadline | undefined;
  #rejectWait: ((error: ApiError) => void) | undefined;

  constructor(response: HttpResponse) {
    // A connection that breaks while the response is sent also closes.
    response.on("close", () => {
      if (response.writableEnded) return;
      this.#isDisconnected = true;
      this.#abort(clientDisconnected());
    });
  }

  /** Aborted when the client disconnects before the response, or when the deadline passes. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#abortReason) this.#controller.abort(this.#abortReason);
    return this.#controller.signal;
  }

  /** Whether the client disconnected before the response. */
  get isDisconnected(): boolean {
    return this.#isDisconnected;
  }

  /** Sets the deadline of the work that `wait` waits for: so many milliseconds from now, or from `wait` if that comes later. */
  setDeadline(ms: number): void {
    this.#deadlineMs = ms;
    if (this.#rejectWait) this.#startDeadline(ms);
  }

  /**
   * Waits for the work. Rejects with CANCELLED when the client disconnects, and with DEADLINE_EXCEEDED at the deadline; the work
   * itself continues unless it listens to the signal.
   */
  wait<T>(work: PromiseLike<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#rejectWait = (error) => {
        this.#endWait();
        reject(error);
      };
      work.then((result) => {
        this.#endWait();
        resolve(result);
      }, this.#rejectWait);
      if (this.#deadlineMs !== undefined) this.#startDeadline(this.#deadlineMs);
      if (this.#isDisconnected) this.#rejectWait?.(clientDisconnected());
    });
  }

  #startDeadline(ms: number): void {
    this.#deadline ??= new Deadline(ms, () => this.#abort(deadlineExceeded()));
  }

  /** Releases the closures, which would keep the result in memory until the client has read the response. */
  #endWait(): void {
    this.#deadline?.meet();
    this.#rejectWait = undefined;
  }

  #abort(error: ApiError): void {
    this.#abortReason = error;
    this.#controller?.abort(error);
    this.#rejectWait?.(error);
  }
}

/** CANCELLED. No client receives it. */
export function clientDisconnected(): ApiError {
  return new ApiError(Code.CANCELLED, "Cancelled: the client left");
}

function deadlineExceeded(): ApiError {
  return new ApiError(Code.DEADLINE_EXCEEDED, "Deadline exceeded: the method took too long");
}
