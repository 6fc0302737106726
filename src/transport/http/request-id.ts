// The id of a request: its response, its log line and its entries in the audit log share it.
import type { IncomingHttpHeaders } from "node:http";
import { newRequestId } from "../../pipeline/call.ts";
import type { Peer } from "./peer.ts";

/**
 * Returns the `x-request-id` that a trusted proxy sent, of at most 128 letters, digits and `._:-`; else a new id. The header of any other
 * peer is ignored: callers could choose equal ids, and make the log lines of different requests look alike.
 */
export function requestIdBehind({ trustedProxies }: Peer, headers: IncomingHttpHeaders): string {
  const given = trustedProxies && headers["x-request-id"];
  return typeof given === "string" && /^[\w.:-]{1,128}$/.test(given) ? given : newRequestId();
}
