import type { JsonWriteOptions } from "@bufbuild/protobuf";
import { codeToHttpStatus, errorToJsonBytes } from "@connectrpc/connect/protocol-connect";
import { type ApiError, Code } from "../../aip/errors.ts";
import { toConnectError } from "../connect-error.ts";

const headers = { "content-type": "application/json" };

/** A failure as the Connect protocol says it. */
export function failureReply(error: ApiError, options: Partial<JsonWriteOptions>) {
  return {
    status: codeToHttpStatus(error.code as number),
    // RFC 9110 §15.5.2: a 401 names the scheme.
    headers: error.code === Code.UNAUTHENTICATED ? { ...headers, "www-authenticate": "Bearer" } : headers,
    body: errorToJsonBytes(toConnectError(error), options),
  };
}
