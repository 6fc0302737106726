import type { DescService, Registry } from "@bufbuild/protobuf";
import { type ApiError, Code, type ErrorDetail, retryAfterOf } from "../../aip/errors.ts";
import { completeDetails } from "../../pipeline/complete-error.ts";
import { HttpError } from "../http/http-error.ts";
import type { OutgoingResponse } from "../http/response.ts";
import { withType } from "./json/encode-well-known.ts";
import { newJsonConverters } from "./json/encoder.ts";

// https://cloud.google.com/apis/design/errors#handling_errors, with FAILED_PRECONDITION as 400
const httpStatus: Readonly<Record<Code, number>> = {
  [Code.OK]: 200,
  [Code.CANCELLED]: 499,
  [Code.UNKNOWN]: 500,
  [Code.INVALID_ARGUMENT]: 400,
  [Code.DEADLINE_EXCEEDED]: 504,
  [Code.NOT_FOUND]: 404,
  [Code.ALREADY_EXISTS]: 409,
  [Code.PERMISSION_DENIED]: 403,
  [Code.RESOURCE_EXHAUSTED]: 429,
  [Code.FAILED_PRECONDITION]: 400,
  [Code.ABORTED]: 409,
  [Code.OUT_OF_RANGE]: 400,
  [Code.UNIMPLEMENTED]: 501,
  [Code.INTERNAL]: 500,
  [Code.UNAVAILABLE]: 503,
  [Code.DATA_LOSS]: 500,
  [Code.UNAUTHENTICATED]: 401,
};

/** What ends JSON, so that a shell's prompt begins on a line of its own. */
export const finalNewline = "\n";

/** What every reply says: replies depend on who asks, are not to be kept, and are what they say they are. */
const commonHeaders = {
  "cache-control": "private, no-store",
  vary: "Authorization, Origin",
  "x-content-type-options": "nosniff",
};

const jsonHeaders = { ...commonHeaders, "content-type": "application/json" };

/** The reply to a call that succeeded; an empty text makes an empty reply, which then has no type either. */
export function successReply(json: string): OutgoingResponse {
  return { status: 200, headers: json === "" ? commonHeaders : jsonHeaders, body: json };
}

/** Makes error replies; `domainOf` the service that was called goes into the ErrorInfo of errors that bring none. */
export function newErrorReplies(
  domainOf: (service: DescService | undefined) => string,
  registry: Registry,
): (error: ApiError, service: DescService | undefined) => OutgoingResponse {
  // An error shows what it has: published samples have no empty metadata.
  const { converter } = newJsonConverters({ registry, zeroValues: false });
  const toJson = ({ schema, value }: ErrorDetail) => withType(schema, converter(schema)(value));
  return (error, service) => {
    const details = completeDetails(error, domainOf(service)).map(toJson);
    return {
      status: statusOf(error),
      headers: headersOf(error),
      body: JSON.stringify({ code: error.code, message: error.message, details }) + finalNewline,
    };
  };
}

/** The HTTP status of an error. */
export function statusOf(error: ApiError): number {
  return error instanceof HttpError ? error.status : (httpStatus[error.code] ?? 500);
}

function headersOf(error: ApiError): OutgoingResponse["headers"] {
  // RFC 9110 §15.5.2: a 401 names the scheme.
  if (error.code === Code.UNAUTHENTICATED) return { ...jsonHeaders, "www-authenticate": "Bearer" };
  const retryAfter = retryAfterOf(error);
  if (retryAfter !== undefined) return { ...jsonHeaders, "retry-after": retryAfter };
  return error instanceof HttpError ? { ...jsonHeaders, ...error.headers } : jsonHeaders;
}
