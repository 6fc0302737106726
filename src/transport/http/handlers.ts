import type { IncomingHttpHeaders, ServerHttp2Stream } from "node:http2";
import type { HttpRequest, HttpResponse } from "./message.ts";

/** Responds to requests. The listener responds 400 to a request whose handler throws or rejects. */
export type HttpHandler = (request: HttpRequest, response: HttpResponse) => void | Promise<void>;

/** Takes over an HTTP/2 stream and returns true, or leaves it untouched and returns false. */
export type StreamHandler = (
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  rawHeaders: readonly string[],
) => boolean;
