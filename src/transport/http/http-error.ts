import { ApiError, type Code, type ErrorDetail } from "../../aip/errors.ts";

/** An error of HTTP itself: its status says more than the one that belongs to its code. */
export class HttpError extends ApiError {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, code: Code, message: string, options: HttpErrorOptions = {}) {
    super(code, message, { details: options.details ?? [] });
    this.status = status;
    this.headers = options.headers ?? {};
  }
}

/** What an HTTP error says beside its status. */
export interface HttpErrorOptions {
  readonly details?: readonly ErrorDetail[];
  readonly headers?: Readonly<Record<string, string>>;
}
