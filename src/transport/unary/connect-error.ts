import { type Code, ConnectError } from "@connectrpc/connect";
import type { ApiError } from "../../aip/errors.ts";

/** Converts an error to one of connect-node. Both have the same code numbers. */
export function toConnectError(error: ApiError): ConnectError {
  const details = error.details.map(({ schema, value }) => ({ desc: schema, value }));
  return new ConnectError(error.message, error.code as number as Code, undefined, details);
}
