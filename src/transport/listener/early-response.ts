// Responses that end before their request (decision 0039). Closing a connection with unread bytes resets it, and the reset may overtake the
// response. So the rest of the request is read and discarded, within limits of bytes and time.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";
import { http } from "../../base/node-http.ts";
import { continueRequest } from "../http/expect-continue.ts";
import { readHeader } from "../http/message.ts";
import { peerOf } from "../http/peer.ts";
import { isStrict, strictTransport } from "../http/strict-transport.ts";
import type { ListenerLimits } from "./limits.ts";

/** The limits on discarding the rest of an unread request. */
export type DiscardLimits = Pick<
  ListenerLimits,
  "maxDiscardedBytes" | "discardTimeoutMs" | "discardStallMs" | "meanChunkBytes"
>;

/** Makes the classes of HTTP/1 messages. With the server, because a startup snapshot cannot contain the classes that they extend. */
export function http1Messages(
  { maxKeptBodyBytes }: Pick<ListenerLimits, "maxKeptBodyBytes">,
  hsts: boolean,
): Http1Messages {
  const { IncomingMessage, ServerResponse } = http;

  /** A request that survives a handler which leaves a `for await` over its body, and asks for the body once it is read. */
  class Request extends IncomingMessage {
    override _read(size: number): void {
      continueRequest(this);
      super._read(size);
    }

    override [Symbol.asyncIterator](): NodeJS.AsyncIterator<unknown> {
      return this.iterator({ destroyOnReturn: false }) as NodeJS.AsyncIterator<unknown>;
    }
  }

  /** A response with `Connection: close` if reading the rest of its request could take too long. */
  class Response extends ServerResponse {
    readonly #isStrict: boolean;

    constructor(...parameters: [request: IncomingMessage]) {
      // node passes options as well, which the types lack.
      super(...parameters);
      const [request] = parameters;
      this.#isStrict = hsts && isStrict(peerOf(request.socket), request.headers);
    }

    override writeHead(status: number, ...rest: never[]): this {
      if (this.shouldKeepAlive && mayExceedLimit(this.req, status, maxKeptBodyBytes)) this.shouldKeepAlive = false;
      if (this.#isStrict) this.setHeader(...strictTransport);
      return super.writeHead(status, ...rest);
    }
  }
  return { IncomingMessage: Request, ServerResponse: Response } as unknown as Http1Messages;
}

interface Http1Messages {
  readonly IncomingMessage: typeof IncomingMessage;
  readonly ServerResponse: typeof ServerResponse;
}

/** Whether the rest of a request may exceed the limit, or the request was too slow or too large already. */
function mayExceedLimit(request: IncomingMessage, status: number, maxBytes: number): boolean {
  if (request.complete) return false;
  if (readHeader(request, "transfer-encoding") !== undefined || status === 408 || status === 413) return true;
  return Number(readHeader(request, "content-length") ?? 0) > maxBytes;
}

/**
 * Closes an HTTP/1 connection after its last response: closes its own side, and reads until the client closes the other.
 *
 * What still arrives is not parsed, so no later request of the connection is carried out.
 */
export function closeInStages(socket: Socket, limits: DiscardLimits): void {
  socket.end();
  // node resumes a socket that it paused for a body in a later tick only, and only while its parser owns the socket.
  socket.resume();
  setImmediate(() => {
    socket.removeAllListeners("data");
    discard(socket, limits, () => socket.destroy());
  });
}

/** Makes the listener for HTTP/2 streams whose response is complete: it discards what the client still sends. */
export function streamDiscarder(limits: DiscardLimits): (this: ServerHttp2Stream) => void {
  return function (this: ServerHttp2Stream): void {
    if (this.readableEnded || this.endAfterHeaders || this.closed) return;
    // Listeners of the handler, which has stopped reading, would pause the stream.
    this.removeAllListeners("data");
    // RFC 9113 §8.1: NO_ERROR asks the client to stop sending, and to keep the response.
    discard(this, limits, () => this.close());
  };
}

/** Reads until the source closes or a limit is met. A small chunk counts as much as chunks must have on average. */
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
