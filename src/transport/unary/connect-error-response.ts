import type { JsonWriteOptions } from "@bufbuild/protobuf";
import { codeToHttpStatus, errorToJsonBytes } from "@connectrpc/connect/protocol-connect";
import { type ApiError, Code, retryAfterOf } from "../../aip/errors.ts";
import { toConnectError } from "./connect-error.ts";

const headers = { "content-type": "application/json" };

/** Makes an error response of the Connect protocol. */
export function failureReply(error: ApiError, options: Partial<JsonWriteOptions>) {
  return {
    status: codeToHttpStatus(error.code as number),
    headers: headersOf(error),
    body: errorToJsonBytes(toConnectError(error), options),
  };
}

function headersOf(error: ApiError): Readonly<Record<string, string>> {
  // RFC 9110 §15.5.2: a 401 names the scheme.
  if (error.code === Code.UNAUTHENTICATED) return { ...headers, "www-authenticate": "Bearer" };
  const retryAfter = retryAfterOf(error);
  return retryAfter === undefined ? headers : { ...headers, "retry-after": retryAfter };
}
