// The id of a request, which its response, its log line and what it changes have in common.
import type { IncomingHttpHeaders } from "node:http";
import type { Http2Session } from "node:http2";
import { newRequestId } from "../../pipeline/call.ts";
import type { HttpRequest } from "./message.ts";
import { type Peer, peerOf } from "./peer.ts";

/**
 * The `x-request-id` that a trusted proxy sent, of at most 128 letters, digits and `._:-`; else a new id. From anybody else the
 * header is ignored: ids that callers choose would make log lines of different requests look alike.
 */
export function requestIdOf({ socket, headers }: Pick<HttpRequest, "socket" | "headers">): string {
  return idBehind(peerOf(socket), headers);
}

/** The same for a stream that has not become a request. */
export function requestIdOfStream(session: Http2Session | undefined, headers: IncomingHttpHeaders): string {
  return idBehind(peerOf(session?.socket), headers);
}

function idBehind({ trustedProxies }: Peer, headers: IncomingHttpHeaders): string {
  const given = trustedProxies && headers["x-request-id"];
  return typeof given === "string" && /^[\w.:-]{1,128}$/.test(given) ? given : newRequestId();
}
