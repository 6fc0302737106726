import { type ChunkLimits, hasTooSmallChunks } from "../http/chunk-limits.ts";
import type { HttpHandler, StreamHandler } from "../http/handlers.ts";
import { enhanceYourCalm, internalError } from "../http/http2-error-codes.ts";
import { type HttpRequest, type HttpResponse, readHeader } from "../http/message.ts";
import { abort, reject } from "../http/rejection.ts";
import type { OnLimit } from "./limit-counters.ts";
import type { ListenerLimits } from "./limits.ts";
import { checkHead } from "./request-head.ts";
import { ignore } from "./socket-server.ts";

/**
 * Surrounds a handler with what must hold for every request.
 *
 * Nothing that the handler throws gets out. connect-node throws on `Host: a%zz` and on HTTP/1.0 without Host, which would
 * end the process.
 */
export function guarded(
  handler: HttpHandler,
  limits: ListenerLimits,
  onError: (error: unknown) => void,
  onLimit: OnLimit = ignore,
) {
  return (request: HttpRequest, response: HttpResponse): void => {
    // Reset before it was looked at: a client that does so in bulk wants the work done for nothing.
    if ("stream" in request && request.stream.destroyed) return;
    // A reply that is written to after its end emits an error; without a listener that would end the process.
    response.on("error", onError);
    const fault = checkHead(request, limits);
    if (fault !== undefined) {
      if (fault === 431) onLimit("headers");
      reject(response, fault);
      return;
    }
    if (mayHaveBody(request)) boundChunks(request, limits, onLimit);
    try {
      const done = handler(request, response);
      if (done instanceof Promise) done.catch((error) => fail(error, response));
    } catch (error) {
      fail(error, response);
    }
  };

  function fail(error: unknown, response: HttpResponse): void {
    onError(error);
    reject(response, 400);
  }
}

/** Surrounds a stream handler likewise: a stream that makes it throw is cut off. */
export function guardedStream(handler: StreamHandler, onError: (error: unknown) => void): StreamHandler {
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

function boundChunks(request: HttpRequest, limits: ChunkLimits, onLimit: OnLimit): void {
  const push = request.push;
  let chunks = 0;
  let bytes = 0;
  let isCut = false;
  request.push = (chunk: Buffer | null, encoding?: BufferEncoding): boolean => {
    if (chunk !== null) {
      chunks += 1;
      bytes += chunk.length;
      if (hasTooSmallChunks(chunks, bytes, limits)) {
        // Those that came in the same packet are still pushed.
        if (!isCut) onLimit("pieces");
        isCut = true;
        abort(request, enhanceYourCalm);
        return false;
      }
    }
    return push.call(request, chunk, encoding);
  };
}
