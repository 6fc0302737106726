// What node:http and node:http2 differ in, for a handler that serves both.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";

/** A request of either HTTP version. */
export type HttpRequest = IncomingMessage | Http2ServerRequest;

/** The response of either HTTP version. */
export type HttpResponse = ServerResponse | Http2ServerResponse;

/**
 * A header by its lower-case name, repetitions joined by ", ".
 *
 * node keeps the first of two Authorization headers in `headers`; RFC 6750 §2 allows one method of sending a token a
 * request, so whoever reads the header must see that there are two.
 */
export function readHeader({ rawHeaders }: Pick<HttpRequest, "rawHeaders">, name: string): string | undefined {
  return joinedHeader(rawHeaders, name);
}

/** The same for a list of names and values in turn. */
export function joinedHeader(rawHeaders: readonly string[], name: string): string | undefined {
  let value: string | undefined;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const candidate = rawHeaders[i]!;
    if (candidate.length !== name.length || candidate.toLowerCase() !== name) continue;
    value = value === undefined ? rawHeaders[i + 1]! : `${value}, ${rawHeaders[i + 1]}`;
  }
  return value;
}

/** What stands for the connection: the session of HTTP/2, the socket of HTTP/1. */
export function connectionOf(req: HttpRequest): object | undefined {
  return "stream" in req ? req.stream.session : req.socket;
}

/** The raw path and the raw query of a request, whose target `checkHead` has made a path. */
export function requestTarget(req: HttpRequest): { readonly path: string; readonly query: string } {
  const url = req.url ?? "";
  const mark = url.indexOf("?");
  return mark < 0 ? { path: url, query: "" } : { path: url.slice(0, mark), query: url.slice(mark + 1) };
}

/** The raw path of a request. */
export function pathOf(req: HttpRequest): string {
  const url = req.url ?? "";
  const mark = url.indexOf("?");
  return mark < 0 ? url : url.slice(0, mark);
}

/** Whether the message belongs to a stream of HTTP/2. */
export function isHttp2(res: HttpResponse): res is Http2ServerResponse {
  return "stream" in res;
}
