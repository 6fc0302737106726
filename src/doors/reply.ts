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
  headers: Iterable<readonly [string, string]>,
  limits: BodyLimits,
): void {
  const ends = reply.closes || hasLongRest(req, limits);
  if (isHttp2(res)) {
    res.writeHead(reply.status, headersOf(reply, headers));
    res.end(reply.body);
    if (ends) res.stream.close();
    return;
  }
  // As a list, which node:http takes as it is.
  const lines = linesOf(reply, headers);
  const length = Buffer.byteLength(reply.body);
  lines.push("content-length", String(length));
  if (!ends) {
    res.writeHead(reply.status, lines);
    // A text goes out in one piece with its head, where bytes would be a second one; ASCII is not encoded anew.
    res.end(reply.body, length === reply.body.length ? "latin1" : "utf8");
    return;
  }
  lines.push("connection", "close");
  res.writeHead(reply.status, lines).write(reply.body);
  void discardBody(req, limits).then(() => res.end());
}

function linesOf({ headers }: Reply, more: Iterable<readonly [string, string]>): string[] {
  const lines: string[] = [];
  for (const name in headers) lines.push(name, headers[name]!);
  for (const [name, value] of more) lines.push(name, value);
  return lines;
}

/** node:http2 itself lets line breaks in values pass. */
function headersOf(reply: Reply, more: Iterable<readonly [string, string]>): Record<string, string> {
  const headers: Record<string, string> = { ...reply.headers };
  for (const [name, value] of more) {
    validateHeaderName(name);
    validateHeaderValue(name, value);
    headers[name] = value;
  }
  headers["content-length"] = String(Buffer.byteLength(reply.body));
  return headers;
}
