// Responses to errors of node's HTTP/1 parser.

import { http } from "../../base/node-http.ts";
import { rejectionText, rejectionType } from "../http/rejection.ts";
import { strictTransport } from "../http/strict-transport.ts";
import type { LimitName } from "./limit-counters.ts";

/** Returns the status for a parser error. */
export function statusOf(error: NodeJS.ErrnoException): number {
  if (error.code === "HPE_HEADER_OVERFLOW") return 431;
  if (error.code === "HPE_CHUNK_EXTENSIONS_OVERFLOW") return 413;
  if (error.code === "ERR_HTTP_REQUEST_TIMEOUT") return 408;
  if (error.code === "HPE_INVALID_METHOD" && hasRequestLine(error)) return 501;
  return 400;
}

/** RFC 9112 §3: whether a request begins in the packet. The parser also calls other bytes, such as those of TLS, an invalid method. */
function hasRequestLine(error: NodeJS.ErrnoException): boolean {
  const { rawPacket } = error as { readonly rawPacket?: Buffer };
  return /^[\w!#$%&'*+.^`|~-]+ \S+ HTTP\/1\.\d\r$/m.test(rawPacket?.toString("latin1") ?? "");
}

/** Returns the limit that the client has met, if any. */
export function limitOf({ code }: NodeJS.ErrnoException): LimitName | undefined {
  if (code === "HPE_HEADER_OVERFLOW") return "headers";
  if (code === "HPE_CHUNK_EXTENSIONS_OVERFLOW") return "pieces";
  return code === "ERR_HTTP_REQUEST_TIMEOUT" ? "time of a request" : undefined;
}

/** Returns a response after which the connection closes, as sent on the wire. */
export function lastResponse(status: number, isStrict: boolean): string {
  const text = rejectionText(status);
  const head = [
    `HTTP/1.1 ${status} ${http.STATUS_CODES[status]}`,
    "Connection: close",
    `Content-Type: ${rejectionType}`,
    `Content-Length: ${text.length}`,
    ...(isStrict ? [strictTransport.join(": ")] : []),
  ];
  return `${head.join("\r\n")}\r\n\r\n${text}`;
}
