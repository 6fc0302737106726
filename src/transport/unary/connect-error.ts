import { type Code, ConnectError } from "@connectrpc/connect";
import { ApiError, type Code as OwnCode } from "../../aip/errors.ts";

/** The error in Connect's words. The codes of both vocabularies have the same numbers. */
export function toConnectError(error: ApiError): ConnectError {
  const details = error.details.map(({ schema, value }) => ({ desc: schema, value }));
  return new ConnectError(error.message, error.code as number as Code, undefined, details);
}

/** An error that connect-node has put into words, which have no details. */
export function fromConnectError(error: ConnectError | ApiError): ApiError {
  if (error instanceof ApiError) return error;
  return new ApiError(error.code as number as OwnCode, error.rawMessage, { cause: error });
}
