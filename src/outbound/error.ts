/**
 * The cause of a failed fetch: a rule of ours forbids it or the document breaks one, the server does not respond, or its certificate is
 * not trusted.
 */
export type OutboundFailure = "refused" | "unavailable" | "untrusted";

/** A fetch that failed. The message names a rule, and never contains what the server responded. */
export class OutboundError extends Error {
  override readonly name = "OutboundError";
  readonly failure: OutboundFailure;

  constructor(failure: OutboundFailure, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.failure = failure;
  }
}
