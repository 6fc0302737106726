// What goes back over HTTP, whatever the protocol on top of it.
import { validateHeaderName, validateHeaderValue } from "../node-http.ts";
import { type BodyLimits, discardBody, hasLongRest } from "./body.ts";
import { type HttpRequest, type HttpResponse, isHttp2 } from "./http-message.ts";

/** An answer, complete. */
export interface Reply {
  readonly status: number;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
  /** Whether the rest of the request is not wanted. */
  readonly closes: boolean;
}

/**
 * Sends a reply with these headers besides its own.
 *
 * If the client could go on sending a long body, its connection (HTTP/1) or stream (HTTP/2) ends after the reply. On
 * HTTP/1 some of that body is taken in first, since a connection that closes over unread bytes may take the reply with it.
 */
export function sendReply(
  req: HttpRequest,
  res: HttpResponse,
  reply: Reply,
  headers: Iterable<[string, string]>,
  limits: BodyLimits,
): void {
  // A text goes out in one piece with its head; bytes would be a second one.
  const { body } = reply;
  const ends = reply.closes || hasLongRest(req, limits);
  const all = { ...reply.headers, ...checked(headers), "content-length": String(Buffer.byteLength(body)) };
  if (isHttp2(res)) {
    res.writeHead(reply.status, all);
    res.end(body);
    if (ends) res.stream.close();
  } else if (!ends) {
    res.writeHead(reply.status, all).end(body);
  } else {
    res.writeHead(reply.status, { ...all, connection: "close" }).write(body);
    void discardBody(req, limits).then(() => res.end());
  }
}

/** node:http2 itself lets line breaks in values pass. */
function checked(headers: Iterable<[string, string]>): Record<string, string> {
  const entries = [...headers];
  for (const [name, value] of entries) {
    validateHeaderName(name);
    validateHeaderValue(name, value);
  }
  return Object.fromEntries(entries);
}
