// Responses that are complete before their request is (decision 0039). A server that closes a connection over unread bytes resets it,
// and the reset may overtake the response. So the rest of the request is read and discarded, bounded in bytes and time.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";
import { http } from "../../base/node-http.ts";
import { readHeader } from "../http/message.ts";
import type { ListenerLimits } from "./limits.ts";

/** How much of an unwanted body is read. */
export type DiscardLimits = Pick<
  ListenerLimits,
  "maxDiscardedBytes" | "discardTimeoutMs" | "discardStallMs" | "meanChunkBytes"
>;

/** The classes of HTTP/1 messages, made with the server: a startup snapshot cannot hold what they extend. */
export function http1Messages({ maxKeptBodyBytes }: Pick<ListenerLimits, "maxKeptBodyBytes">): Http1Messages {
  const { IncomingMessage, ServerResponse } = http();

  /** A request whose handler may leave a `for await` over its body without losing the connection. */
  class Request extends IncomingMessage {
    override [Symbol.asyncIterator](): NodeJS.AsyncIterator<unknown> {
      return this.iterator({ destroyOnReturn: false }) as NodeJS.AsyncIterator<unknown>;
    }
  }

  /** A response that says `Connection: close` where reading the rest of its request would take too long. */
  class Response extends ServerResponse {
    override writeHead(status: number, ...rest: never[]): this {
      if (this.shouldKeepAlive && mayExceedLimit(this.req, status, maxKeptBodyBytes)) this.shouldKeepAlive = false;
      return super.writeHead(status, ...rest);
    }
  }
  return { IncomingMessage: Request, ServerResponse: Response } as unknown as Http1Messages;
}

interface Http1Messages {
  readonly IncomingMessage: typeof IncomingMessage;
  readonly ServerResponse: typeof ServerResponse;
}

/** Whether a request whose response begins now may go on for long, or was too slow or too large already. */
function mayExceedLimit(request: IncomingMessage, status: number, maxBytes: number): boolean {
  if (request.complete) return false;
  if (readHeader(request, "transfer-encoding") !== undefined || status === 408 || status === 413) return true;
  return Number(readHeader(request, "content-length") ?? 0) > maxBytes;
}

/**
 * Ends an HTTP/1 connection behind its last response: closes its own side, and reads on until the client closes the other.
 *
 * Nothing that still comes is parsed, so that no later request of the connection is carried out.
 */
export function closeInStages(socket: Socket, limits: DiscardLimits): void {
  socket.end();
  // Node reads on from a socket that it has paused for a body only in a later tick, and only while its parser has the socket.
  socket.resume();
  setImmediate(() => {
    socket.removeAllListeners("data");
    discard(socket, limits, () => socket.destroy());
  });
}

/** Makes the listener of a stream of HTTP/2 whose response is complete: it discards what the client still sends. */
export function streamDiscarder(limits: DiscardLimits): (this: ServerHttp2Stream) => void {
  return function (this: ServerHttp2Stream): void {
    if (this.readableEnded || this.endAfterHeaders || this.closed) return;
    // The handler has stopped reading; its listeners would pause the stream instead of letting it flow.
    this.removeAllListeners("data");
    // RFC 9113 §8.1: NO_ERROR asks the client to stop without discarding the response.
    discard(this, limits, () => this.close());
  };
}

/** Reads until the source closes or a limit is met; a small piece counts as much as pieces must have on average. */
function discard(source: Socket | ServerHttp2Stream, limits: DiscardLimits, stop: () => void): void {
  let left = limits.maxDiscardedBytes;
  const timer = setTimeout(stop, limits.discardTimeoutMs).unref();
  source.once("close", () => clearTimeout(timer));
  source.setTimeout(limits.discardStallMs, stop);
  source.on("data", ({ length }: Buffer) => {
    left -= Math.max(length, limits.meanChunkBytes);
    if (left < 0) stop();
  });
  source.resume();
}
