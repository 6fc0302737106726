/**
 * Why there is no document: our rules forbid it or it breaks them, the other side does not answer, or its certificate is not
 * trusted.
 */
export type OutboundFailure = "refused" | "unavailable" | "untrusted";

/** A document that could not be had. The message names a rule, and never what the other side answered. */
export class OutboundError extends Error {
  override readonly name = "OutboundError";
  readonly failure: OutboundFailure;

  constructor(failure: OutboundFailure, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.failure = failure;
  }
}
