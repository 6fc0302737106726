import { type ChunkLimits, hasTooSmallChunks } from "../http/chunk-limits.ts";
import type { HttpHandler, StreamHandler } from "../http/handlers.ts";
import { enhanceYourCalm, internalError } from "../http/http2-error-codes.ts";
import { type HttpRequest, type HttpResponse, readHeader } from "../http/message.ts";
import { abort, reject } from "../http/rejection.ts";
import type { CountLimit } from "./limit-counters.ts";
import type { ListenerLimits } from "./limits.ts";
import { checkHead } from "./request-head.ts";

/** The options of a guard. */
export interface GuardOptions {
  readonly limits: ListenerLimits;
  readonly onError: (error: unknown) => void;
  readonly countLimit: CountLimit;
}

/**
 * Wraps a handler in the checks that every request needs.
 *
 * Catches what the handler throws, which would end the process: connect-node throws on `Host: a%zz`, and on HTTP/1.0 without Host.
 */
export function guardHandler(handler: HttpHandler, { limits, onError, countLimit }: GuardOptions) {
  const fail = (error: unknown, response: HttpResponse): void => {
    onError(error);
    reject(response, 400);
  };
  return (request: HttpRequest, response: HttpResponse): void => {
    // Reset before it started: a client that does so in bulk wants the work done for nothing.
    if ("stream" in request && request.stream.destroyed) return;
    // Writing to a response after its end emits an error, which would end the process without a listener.
    response.on("error", onError);
    const status = checkHead(request, limits);
    if (status !== undefined) {
      if (status === 431) countLimit("headers");
      reject(response, status);
      return;
    }
    if (mayHaveBody(request)) limitChunks(request, limits, countLimit);
    try {
      const done = handler(request, response);
      if (done instanceof Promise) done.catch((error) => fail(error, response));
    } catch (error) {
      fail(error, response);
    }
  };
}

/** Wraps a stream handler likewise: a stream for which it throws is reset. */
export function guardStreamHandler(handler: StreamHandler, onError: (error: unknown) => void): StreamHandler {
  return (stream, headers, rawHeaders) => {
    try {
      return handler(stream, headers, rawHeaders);
    } catch (error) {
      onError(error);
      stream.close(internalError);
      return true;
    }
  };
}

// RFC 9112 §6.3: without these headers a request over HTTP/1 has no body.
function mayHaveBody(request: HttpRequest): boolean {
  if ("stream" in request) return true;
  return readHeader(request, "content-length") !== undefined || readHeader(request, "transfer-encoding") !== undefined;
}

/**
 * Aborts a request whose body comes in too small chunks. It replaces `push`: the limit then holds for every reader of the body, libraries
 * included, before node buffers a chunk.
 */
function limitChunks(request: HttpRequest, limits: ChunkLimits, countLimit: CountLimit): void {
  const push = request.push;
  let chunks = 0;
  let bytes = 0;
  let isAborted = false;
  request.push = (chunk: Buffer | null, encoding?: BufferEncoding): boolean => {
    if (chunk !== null) {
      chunks += 1;
      bytes += chunk.length;
      if (hasTooSmallChunks(chunks, bytes, limits)) {
        // Chunks of the same packet are still pushed.
        if (!isAborted) countLimit("pieces");
        isAborted = true;
        abort(request, enhanceYourCalm);
        return false;
      }
    }
    return push.call(request, chunk, encoding);
  };
}
