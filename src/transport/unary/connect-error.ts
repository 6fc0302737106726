import { type Code, ConnectError } from "@connectrpc/connect";
import { ApiError, type Code as OwnCode } from "../../aip/errors.ts";

/** Converts an error to one of connect-node. Both have the same code numbers. */
export function toConnectError(error: ApiError): ConnectError {
  const details = error.details.map(({ schema, value }) => ({ desc: schema, value }));
  return new ConnectError(error.message, error.code as number as Code, undefined, details);
}

/** Converts an error of connect-node, which has no details. */
export function fromConnectError(error: ConnectError | ApiError): ApiError {
  if (error instanceof ApiError) return error;
  return new ApiError(error.code as number as OwnCode, error.rawMessage, { cause: error });
}
