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
  headers: readonly (readonly [string, string])[],
  limits: BodyLimits,
): void {
  const ends = reply.closes || hasLongRest(req, limits);
  const length = Buffer.byteLength(reply.body);
  const all: Record<string, string> = { ...reply.headers, "content-length": String(length) };
  // What a method says about its reply replaces what replies say in general.
  for (const [name, value] of headers) all[name] = value;
  if (isHttp2(res)) {
    check(headers);
    res.writeHead(reply.status, all);
    res.end(reply.body);
    if (ends) res.stream.close();
  } else if (!ends) {
    res.writeHead(reply.status, linesOf(all));
    // A text goes out in one piece with its head, where bytes would be a second one; ASCII is not encoded anew.
    res.end(reply.body, length === reply.body.length ? "latin1" : "utf8");
  } else {
    res.writeHead(reply.status, [...linesOf(all), "connection", "close"]).write(reply.body);
    void discardBody(req, limits).then(() => res.end());
  }
}

/** Names and values in turn, which node:http takes as they are. */
function linesOf(headers: Readonly<Record<string, string>>): string[] {
  const lines: string[] = [];
  for (const name in headers) lines.push(name, headers[name]!);
  return lines;
}

/** node:http2 itself lets line breaks in values pass. */
function check(headers: readonly (readonly [string, string])[]): void {
  for (const [name, value] of headers) {
    validateHeaderName(name);
    validateHeaderValue(name, value);
  }
}
