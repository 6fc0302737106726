// Hides the differences between node:http and node:http2.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";

/** A request of either HTTP version. */
export type HttpRequest = IncomingMessage | Http2ServerRequest;

/** The response of either HTTP version. */
export type HttpResponse = ServerResponse | Http2ServerResponse;

/**
 * Returns a header by its lower-case name, with repetitions joined by ", ".
 *
 * RFC 6750 §2: a request may send one token only, so readers must see a second Authorization header. node drops it from `headers`.
 */
export function readHeader({ rawHeaders }: Pick<HttpRequest, "rawHeaders">, name: string): string | undefined {
  return joinedHeader(rawHeaders, name);
}

/** Returns the joined values of a header, read from a list of alternating names and values. */
export function joinedHeader(rawHeaders: readonly string[], name: string): string | undefined {
  let value: string | undefined;
  // RFC 9113 §8.2.3: HTTP/2 may send each cookie in a field of its own.
  const separator = name === "cookie" ? "; " : ", ";
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const candidate = rawHeaders[i]!;
    if (candidate.length !== name.length || candidate.toLowerCase() !== name) continue;
    value = value === undefined ? rawHeaders[i + 1]! : value + separator + rawHeaders[i + 1];
  }
  return value;
}

/** Returns one object per connection: the HTTP/2 session or the HTTP/1 socket. */
export function connectionOf(req: HttpRequest): object | undefined {
  return "stream" in req ? req.stream.session : req.socket;
}

/** Returns the raw path and query of a request. `checkHead` has removed scheme and host from its target. */
export function requestTarget(req: HttpRequest): { readonly path: string; readonly query: string } {
  const url = req.url ?? "";
  const mark = url.indexOf("?");
  return mark < 0 ? { path: url, query: "" } : { path: url.slice(0, mark), query: url.slice(mark + 1) };
}

/** Returns the raw path of a request. */
export function pathOf(req: HttpRequest): string {
  return pathOfTarget(req.url ?? "");
}

/** Returns the raw path of a target: what is before its query. */
export function pathOfTarget(target: string): string {
  const mark = target.indexOf("?");
  return mark < 0 ? target : target.slice(0, mark);
}

/** Whether the response belongs to an HTTP/2 stream. */
export function isHttp2(res: HttpResponse): res is Http2ServerResponse {
  return "stream" in res;
}
