import type { Socket } from "node:net";
import { type HttpRequest, type HttpResponse, readHeader } from "../http/message.ts";
import type { StreamHandler } from "../unary/unary-transport.ts";
import type { OnLimit } from "./limit-counters.ts";
import { type ChunkLimits, isCutTooFinely, type ListenerLimits } from "./limits.ts";
import { checkHead } from "./request-head.ts";
import type { Debt } from "./write-backlog.ts";

/** RFC 9113 §7. Numbers, since node:http2 is loaded with the first connection that speaks it. */
export const internalError = 0x2;
const enhanceYourCalm = 0xb;

/** Answers requests. What it throws or rejects with becomes a plain 400. */
export type HttpHandler = (request: HttpRequest, response: HttpResponse) => void | Promise<void>;

/** A server of one version of HTTP that never listens: it is handed sockets. */
export interface SocketServer {
  accept(socket: Socket): void;
  /** Asks all clients to go away, and closes what is idle. What is being answered goes on, so call it until none is left. */
  retire(): void;
  /** The connections that are owed something: replies that their clients have not taken. */
  debts(): Debt[];
  /** Stops the timers. The sockets are the caller's to destroy. */
  close(): void;
}

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
      refuse(response, fault);
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
    refuse(response, 400);
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

/** What was wrong with a request that no handler saw, for whoever looks at the reply (RFC 9110 §15.5, §15.6). */
export function refusalText(status: number): string {
  return `${refusals[status] ?? "the request is malformed"}\n`;
}

const refusals: Readonly<Record<number, string>> = {
  405: "the method is not allowed",
  408: "the request did not arrive in time",
  413: "the chunks of the body have extensions that are too long",
  431: "the target and the headers of the request are too long, or too many",
  505: "the version of HTTP is not supported; HTTP/1.1 and HTTP/2 are",
};

/** The methods that some path allows, for requests whose method no path does. */
export const allowedMethods = "DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT";

/** The header that says what that is. */
export const refusalType = "text/plain; charset=utf-8";

/** Answers with a sentence, and ends the connection over HTTP/1; a reply that has begun is cut off. */
export function refuse(response: HttpResponse, status: number): void {
  if (response.headersSent) {
    cutOff(response, internalError);
    return;
  }
  for (const name of response.getHeaderNames()) response.removeHeader(name);
  if ("shouldKeepAlive" in response) response.shouldKeepAlive = false;
  const text = refusalText(status);
  response.statusCode = status;
  // RFC 9110 §15.5.6: a 405 names what is allowed.
  if (status === 405) response.setHeader("allow", allowedMethods);
  response.setHeader("content-type", refusalType);
  response.setHeader("content-length", text.length);
  // RFC 9110 §9.3.2
  response.end(response.req.method === "HEAD" ? "" : text);
}

/** Does nothing with an error that somebody else has dealt with. */
export function ignore(): void {}

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
      if (isCutTooFinely(chunks, bytes, limits)) {
        // Those that came in the same packet are still pushed.
        if (!isCut) onLimit("pieces");
        isCut = true;
        cutOff(request, enhanceYourCalm);
        return false;
      }
    }
    return push.call(request, chunk, encoding);
  };
}

// Over HTTP/2 only the stream ends, and the code tells why; over HTTP/1 the connection does.
function cutOff(exchange: HttpRequest | HttpResponse, code: number): void {
  if ("stream" in exchange) exchange.stream.close(code);
  else exchange.destroy();
}
