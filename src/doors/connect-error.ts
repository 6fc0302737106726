import { type Code, ConnectError } from "@connectrpc/connect";
import type { ApiError } from "../aip/errors.ts";

/** The error in Connect's words. The codes of both vocabularies have the same numbers. */
export function toConnectError(error: ApiError): ConnectError {
  const details = error.details.map(({ schema, value }) => ({ desc: schema, value }));
  return new ConnectError(error.message, error.code as number as Code, undefined, details);
}
