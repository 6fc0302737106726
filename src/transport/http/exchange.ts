import type { ChunkLimits } from "./chunk-limits.ts";
import type { HttpHandler } from "./handlers.ts";
import { headOfRequest, type RequestHead } from "./head.ts";
import { internalError } from "./http2-error-codes.ts";
import { type HttpRequest, type HttpResponse, isHttp2 } from "./message.ts";
import { type BodyLimits, readBody } from "./request-body.ts";
import { callHeaders, type OutgoingResponse, type ResponseCall, sendResponse } from "./response.ts";

/** One request and its response. */
export interface Exchange {
  readonly head: RequestHead;
  /** Reads the whole body, once. Rejects with an ApiError if it is too large, too late, or in too small chunks, or the client disconnects. */
  readBody(limits: BodyLimits & ChunkLimits): Promise<Buffer>;
  /** Whether a response was sent. */
  readonly hasResponded: boolean;
  /** Whether the client has left: a response would reach nobody. */
  readonly isAbandoned: boolean;
  /**
   * Sends a response with the id and the headers of its call, if any. Ignores a second response, and one to a client that has
   * disconnected.
   */
  respond(response: OutgoingResponse, call?: ResponseCall): void;
  /** Ends the exchange without a complete response: resets the HTTP/2 stream, or closes the HTTP/1 connection. */
  abort(): void;
}

/** Responds to an exchange. The listener responds 400 where it throws or rejects. */
export type ExchangeHandler = (exchange: MessageExchange) => void | Promise<void>;

/** An exchange of a request and a response of node: over HTTP/1, and over HTTP/2 where no transport takes the stream itself. */
export class MessageExchange implements Exchange {
  readonly head: RequestHead;
  /** For libraries that take node's objects. */
  readonly request: HttpRequest;
  readonly response: HttpResponse;
  #hasResponded = false;

  constructor(request: HttpRequest, response: HttpResponse) {
    this.head = headOfRequest(request);
    this.request = request;
    this.response = response;
  }

  get hasResponded(): boolean {
    return this.#hasResponded;
  }

  get isAbandoned(): boolean {
    return !this.#hasResponded && this.response.destroyed;
  }

  readBody(limits: BodyLimits): Promise<Buffer> {
    return readBody(this.request, limits);
  }

  respond(response: OutgoingResponse, call?: ResponseCall): void {
    if (this.#hasResponded || this.response.destroyed) return;
    sendResponse(this.request, this.response, response, call ? callHeaders(call) : []);
    this.#hasResponded = true;
  }

  abort(): void {
    if (isHttp2(this.response)) this.response.stream.close(internalError);
    else this.response.destroy();
  }
}

/** Makes a handler of node's objects from a handler of exchanges. */
export function onExchange(handler: ExchangeHandler): HttpHandler {
  return (request, response) => handler(new MessageExchange(request, response));
}
