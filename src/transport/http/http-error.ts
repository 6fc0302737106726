import { ApiError, type Code, type ErrorDetail } from "../../aip/errors.ts";

/** An error with an HTTP status of its own, which is more precise than that of its code. */
export class HttpError extends ApiError {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, code: Code, message: string, options: HttpErrorOptions = {}) {
    super(code, message, { details: options.details ?? [] });
    this.status = status;
    this.headers = options.headers ?? {};
  }
}

/** Details and headers of an HTTP error. */
export interface HttpErrorOptions {
  readonly details?: readonly ErrorDetail[];
  readonly headers?: Readonly<Record<string, string>>;
}
