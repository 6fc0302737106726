import type { ApiError } from "../../aip/errors.ts";
import { clientDisconnected, deadlineExceeded, WorkLifetime } from "../../pipeline/call-lifetime.ts";
import { Deadline } from "./deadline.ts";
import type { HttpResponse } from "./message.ts";

/** The lifetime of a request: until its response, its deadline, or the client's disconnect. */
export class RequestLifetime extends WorkLifetime {
  #isDisconnected = false;
  #deadlineMs: number | undefined;
  #deadline: Deadline | undefined;
  #rejectWait: ((error: ApiError) => void) | undefined;

  constructor(response: HttpResponse) {
    super();
    // A connection that breaks while the response is sent also closes.
    response.on("close", () => {
      if (response.writableEnded) return;
      this.#isDisconnected = true;
      this.end(clientDisconnected());
    });
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
   * Waits for the work. Rejects with CANCELLED when the client disconnects, and with DEADLINE_EXCEEDED at the deadline, unless the
   * response awaits the result of the work.
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
      if (this.#isDisconnected && !this.awaitsResult) this.#rejectWait?.(clientDisconnected());
    });
  }

  #startDeadline(ms: number): void {
    this.#deadline ??= new Deadline(ms, () => this.end(deadlineExceeded()));
  }

  /** Releases the closures, which would keep the result in memory until the client has read the response. */
  #endWait(): void {
    this.#deadline?.meet();
    this.#rejectWait = undefined;
  }

  override end(error: ApiError): void {
    super.end(error);
    if (!this.awaitsResult) this.#rejectWait?.(error);
  }
}
