import type { JsonWriteOptions } from "@bufbuild/protobuf";
import { codeToHttpStatus, errorToJsonBytes } from "@connectrpc/connect/protocol-connect";
import { type ApiError, retryAfterOf } from "../../aip/errors.ts";
import { type ChallengedCall, challengeOf } from "../http/challenge.ts";
import { toConnectError } from "./connect-error.ts";

const headers = { "content-type": "application/json" };

/** Makes an error response of the Connect protocol. */
export function failureReply(error: ApiError, call: ChallengedCall, options: Partial<JsonWriteOptions>) {
  return {
    status: codeToHttpStatus(error.code as number),
    headers: headersOf(error, call),
    body: errorToJsonBytes(toConnectError(error), options),
  };
}

function headersOf(error: ApiError, call: ChallengedCall): Readonly<Record<string, string>> {
  const challenge = challengeOf(error, call);
  if (challenge !== undefined) return { ...headers, "www-authenticate": challenge };
  const retryAfter = retryAfterOf(error);
  return retryAfter === undefined ? headers : { ...headers, "retry-after": retryAfter };
}
