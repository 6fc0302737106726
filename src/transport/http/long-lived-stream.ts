// Streams without an end, such as health watches. They are idle most of the time, so the listener does not count them as running calls.
import type { ServerHttp2Stream } from "node:http2";
import type { HttpRequest } from "./message.ts";

const mark = Symbol("long-lived");

type MarkedStream = ServerHttp2Stream & { [mark]?: true };

/** Marks the HTTP/2 stream of a request as one that may stay open and idle. Over HTTP/1 a response occupies its connection anyway. */
export function markLongLived(request: HttpRequest): void {
  if ("stream" in request) (request.stream as MarkedStream)[mark] = true;
}

/** Whether a stream is marked, and its client has read everything that was sent. */
export function isIdleStream(stream: ServerHttp2Stream): boolean {
  return (stream as MarkedStream)[mark] === true && stream.writableLength === 0;
}
