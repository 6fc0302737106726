import type { DescService, Registry } from "@bufbuild/protobuf";
import { type ApiError, Code, type ErrorDetail, retryAfterOf } from "../../aip/errors.ts";
import { completeDetails } from "../../pipeline/complete-error.ts";
import { type ChallengedCall, challengeOf } from "../http/challenge.ts";
import { HttpError } from "../http/http-error.ts";
import type { OutgoingResponse } from "../http/response.ts";
import { withType } from "../json/encode-well-known.ts";
import { newJsonConverters } from "../json/encoder.ts";

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

/** Ends each JSON response, because a shell prompt should begin on a new line. */
export const finalNewline = "\n";

/** Headers of every response: it depends on the caller, must not be cached, and has the type that it declares. */
export const commonHeaders = {
  "cache-control": "private, no-store",
  vary: "Authorization, Origin",
  "x-content-type-options": "nosniff",
};

const jsonHeaders = { ...commonHeaders, "content-type": "application/json" };

/** Makes the response to a successful call. Without text it has no content type. */
export function successResponse(json: string): OutgoingResponse {
  return { status: 200, headers: json === "" ? commonHeaders : jsonHeaders, body: json };
}

/**
 * Makes the function that makes error responses. `domainOf` returns the domain of ErrorInfo for errors that lack it. Without a call, the
 * response has no challenge.
 */
export function newErrorResponses(
  domainOf: (service: DescService | undefined) => string,
  registry: Registry,
): (error: ApiError, service: DescService | undefined, call?: ChallengedCall) => OutgoingResponse {
  // Error details omit zero values: published examples have no empty metadata.
  const { converter } = newJsonConverters({ registry, zeroValues: false });
  const toJson = ({ schema, value }: ErrorDetail) => withType(schema, converter(schema)(value));
  return (error, service, call) => {
    const details = completeDetails(error, domainOf(service)).map(toJson);
    return {
      status: statusOf(error),
      headers: headersOf(error, call),
      body: JSON.stringify({ code: error.code, message: error.message, details }) + finalNewline,
    };
  };
}

/** Reasons with another status than their code: clients that know idempotency keys and If-Match expect it. */
const statusOfReason: ReadonlyMap<string, number> = new Map([
  ["IDEMPOTENCY_KEY_REUSED", 422],
  ["ETAG_MISMATCH", 412],
]);

/** Returns the HTTP status of an error. */
export function statusOf(error: ApiError): number {
  if (error instanceof HttpError) return error.status;
  return statusOfReason.get(error.reason) ?? httpStatus[error.code] ?? 500;
}

function headersOf(error: ApiError, call: ChallengedCall | undefined): OutgoingResponse["headers"] {
  const challenge = call && challengeOf(error, call);
  if (challenge !== undefined) return { ...jsonHeaders, "www-authenticate": challenge };
  const retryAfter = retryAfterOf(error);
  if (retryAfter !== undefined) return { ...jsonHeaders, "retry-after": retryAfter };
  return error instanceof HttpError ? { ...jsonHeaders, ...error.headers } : jsonHeaders;
}
