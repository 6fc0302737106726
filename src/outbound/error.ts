/**
 * The cause of a failed fetch: a rule of ours forbids it or the document breaks one, the server does not respond, or its certificate is
 * not trusted.
 */
export type OutboundFailure = "refused" | "unavailable" | "untrusted";

/**
 * The kind of way to a host: all of its addresses are public, none is known to be, or a proxy finds them. Tenants may learn how an attempt
 * failed at a public address only.
 */
export type Reach = "public" | "private" | "proxy";

/** The circumstances of a failed fetch. */
export interface OutboundAttempt {
  /** Undefined if a rule forbids the URL. */
  readonly reach?: Reach | undefined;
  /** Whether the time limit ended it. */
  readonly isTimeout: boolean;
}

/** A fetch that failed. The message names a rule, and never contains what the server responded. */
export class OutboundError extends Error {
  override readonly name = "OutboundError";
  readonly failure: OutboundFailure;
  readonly attempt: OutboundAttempt;

  constructor(failure: OutboundFailure, message: string, cause?: unknown, attempt?: OutboundAttempt) {
    super(message, cause === undefined ? undefined : { cause });
    this.failure = failure;
    this.attempt = attempt ?? { isTimeout: false };
  }
}

/** A response with a longer body than the caller takes. */
export class LongAnswer extends OutboundError {
  readonly maxBytes: number;

  constructor(maxBytes: number, attempt?: OutboundAttempt) {
    super("refused", `the answer is longer than ${maxBytes} bytes`, undefined, attempt);
    this.maxBytes = maxBytes;
  }
}
