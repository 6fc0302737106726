import { ApiError, type Code, type ErrorDetail } from "../aip/errors.ts";

/** An error of HTTP itself: its status says more than the one that belongs to its code. */
export class HttpError extends ApiError {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Whether the connection cannot be used any further, because the rest of the request was not read. */
  readonly closes: boolean;

  constructor(status: number, code: Code, message: string, options: HttpErrorOptions = {}) {
    super(code, message, { details: options.details ?? [] });
    this.status = status;
    this.headers = options.headers ?? {};
    this.closes = options.closes ?? false;
  }
}

/** What an HTTP error says beside its status. */
export interface HttpErrorOptions {
  readonly details?: readonly ErrorDetail[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly closes?: boolean;
}
