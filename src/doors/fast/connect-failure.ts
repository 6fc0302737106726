import type { JsonWriteOptions } from "@bufbuild/protobuf";
import { codeToHttpStatus, errorToJsonBytes } from "@connectrpc/connect/protocol-connect";
import type { ApiError } from "../../aip/errors.ts";
import { toConnectError } from "../connect-error.ts";

/** A failure as the Connect protocol says it. */
export function failureReply(error: ApiError, options: Partial<JsonWriteOptions>) {
  return {
    status: codeToHttpStatus(error.code as number),
    headers: { "content-type": "application/json" },
    body: errorToJsonBytes(toConnectError(error), options),
  };
}
