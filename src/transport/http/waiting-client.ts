import { ApiError, Code } from "../../aip/errors.ts";
import { Deadline } from "./deadline.ts";
import type { HttpResponse } from "./message.ts";

/** The other end of a request, as long as it waits for the answer. */
export class Client {
  // Few methods listen, so that the signal is made when one does.
  #controller: AbortController | undefined;
  #gaveUp: ApiError | undefined;
  #isGone = false;
  #giveUp = nobodyWaits;

  /** Watches for the client to leave. */
  constructor(res: HttpResponse) {
    // A connection that breaks while the answer is on its way also closes.
    res.on("close", () => {
      if (res.writableEnded) return;
      this.#isGone = true;
      this.#abort(clientLeft());
    });
  }

  /** Aborted when the client leaves before its answer, or when a deadline passes. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#gaveUp) this.#controller.abort(this.#gaveUp);
    return this.#controller.signal;
  }

  /** Whether it left before its answer. */
  get isGone(): boolean {
    return this.#isGone;
  }

  /**
   * Waits for the work, but no longer than this and only while the client does: else it throws DEADLINE_EXCEEDED or
   * CANCELLED. The work itself goes on unless it heeds the signal.
   */
  wait<T>(work: PromiseLike<T>, ms: number): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const deadline = new Deadline(ms, () => this.#abort(tooSlow()));
      const giveUp = (error: ApiError) => {
        deadline.meet();
        reject(error);
      };
      this.#giveUp = giveUp;
      work.then((result) => {
        deadline.meet();
        // What would keep the result until the client has taken the answer.
        this.#giveUp = nobodyWaits;
        resolve(result);
      }, giveUp);
      if (this.#isGone) giveUp(clientLeft());
    });
  }

  #abort(error: ApiError): void {
    this.#gaveUp = error;
    this.#controller?.abort(error);
    this.#giveUp(error);
  }
}

function nobodyWaits(_error: ApiError): void {}

/** CANCELLED, for nobody to read. */
export function clientLeft(): ApiError {
  return new ApiError(Code.CANCELLED, "Cancelled: the client left");
}

function tooSlow(): ApiError {
  return new ApiError(Code.DEADLINE_EXCEEDED, "Deadline exceeded: the method took too long");
}
