// An exchange over an HTTP/2 stream, without node's request and response objects.
import type { IncomingHttpHeaders, ServerHttp2Stream } from "node:http2";
import { type ApiError, resourceExhausted } from "../../aip/errors.ts";
import { once } from "../../base/lazy.ts";
import { memoizeFrozen } from "../../base/memoize-frozen.ts";
import { clientDisconnected } from "../../pipeline/call-lifetime.ts";
import { type ChunkLimits, hasTooSmallChunks } from "./chunk-limits.ts";
import type { Exchange } from "./exchange.ts";
import { headOfStream, type RequestHead } from "./head.ts";
import { internalError } from "./http2-error-codes.ts";
import { messageTooLarge } from "./message-size.ts";
import { inTurn } from "./request-body.ts";
import type { OutgoingResponse, ResponseCall } from "./response.ts";

// Listeners find the reader of a stream on the stream and need no closures: node:stream keeps writable streams alive until a full
// collection, and with them everything that their listeners refer to.
const reader = Symbol("reader");

interface ReadStream extends ServerHttp2Stream {
  [reader]?: BodyReader | undefined;
}

/** The limits on the size of a body and on its pieces. */
export interface StreamBodyLimits extends ChunkLimits {
  readonly maxBodyBytes: number;
  /** Bytes besides the message: see `BodyLimits`. */
  readonly extraBytes?: number;
}

/** An exchange over a stream that no other handler serves. */
export class StreamExchange implements Exchange {
  readonly head: RequestHead;
  readonly #stream: ServerHttp2Stream;
  #hasResponded = false;

  constructor(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, rawHeaders: readonly string[]) {
    this.head = headOfStream(stream, headers, rawHeaders);
    this.#stream = stream;
  }

  get hasResponded(): boolean {
    return this.#hasResponded;
  }

  get isAbandoned(): boolean {
    return !this.#hasResponded && this.#stream.destroyed;
  }

  readBody(limits: StreamBodyLimits): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const stream: ReadStream = this.#stream;
      stream[reader] = new BodyReader(stream, limits, resolve, reject);
      // RFC 9110 §10.1.1: the client waits with its body until it is asked for it.
      if (this.head.headers.expect !== undefined && isAwaited(stream)) stream.additionalHeaders({ ":status": 100 });
      stream.on("data", onData).on("end", onEnd).on("close", onClose);
    });
  }

  respond(response: OutgoingResponse, call: ResponseCall): void {
    if (this.#hasResponded) return;
    this.#hasResponded = true;
    respondOnStream(this.#stream, response, call);
  }

  abort(): void {
    this.#stream.close(internalError);
  }
}

/** Whether nothing of a body has arrived. */
function isAwaited(stream: ServerHttp2Stream): boolean {
  return !stream.destroyed && !stream.headersSent && !stream.readableEnded && stream.readableLength === 0;
}

/** Collects a body. One that is too large, too finely divided or incomplete becomes an error: neither memory nor a call. */
class BodyReader {
  readonly #stream: ReadStream;
  readonly #limits: StreamBodyLimits;
  readonly #resolve: (body: Buffer | Promise<Buffer>) => void;
  readonly #reject: (error: ApiError) => void;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  #isRejected = false;

  constructor(
    stream: ReadStream,
    limits: StreamBodyLimits,
    resolve: (body: Buffer | Promise<Buffer>) => void,
    reject: (error: ApiError) => void,
  ) {
    this.#stream = stream;
    this.#limits = limits;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  take(chunk: Buffer): void {
    const { maxBodyBytes, extraBytes = 0 } = this.#limits;
    this.#bytes += chunk.length;
    if (this.#isRejected) return;
    if (this.#bytes > maxBodyBytes + extraBytes) this.#rejectBody(messageTooLarge(maxBodyBytes));
    else if (hasTooSmallChunks(this.#chunks.push(chunk), this.#bytes, this.#limits))
      this.#rejectBody(resourceExhausted("the body comes in too many pieces"));
  }

  end(): void {
    this.#stream[reader] = undefined;
    const chunks = this.#chunks;
    // RFC 9113 §8.1: only the client ends its request. For node a stream that either side resets ends as well.
    if (this.#stream.aborted) this.#reject(clientDisconnected());
    else this.#resolve(inTurn(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)));
  }

  close(): void {
    this.#stream[reader] = undefined;
    this.#reject(clientDisconnected());
  }

  #rejectBody(error: ApiError): void {
    this.#isRejected = true;
    this.#chunks.length = 0;
    this.#reject(error);
  }
}

function onData(this: ReadStream, chunk: Buffer): void {
  this[reader]?.take(chunk);
}

function onEnd(this: ReadStream): void {
  this[reader]?.end();
}

function onClose(this: ReadStream): void {
  this[reader]?.close();
}

/** Sends a response on an HTTP/2 stream; nothing if the client has disconnected. */
export function respondOnStream(
  stream: ServerHttp2Stream,
  { status, headers, body, trailers }: OutgoingResponse,
  call: ResponseCall,
): void {
  if (stream.destroyed || stream.closed) return;
  // A list, which node:http2 writes unchanged.
  const lines = [":status", String(status), "x-request-id", call.requestId] as OutgoingLines;
  lines[sensitiveHeaders()] = unique;
  for (const name in headers) if (!call.responseHeaders.has(name)) pushHeader(lines, name, headers[name]!);
  for (const [name, value] of call.responseHeaders) lines.push(name, value);
  if (!body) {
    for (const name in trailers) lines.push(name, trailers[name]!);
    stream.respond(lines, { endStream: true });
    return;
  }
  stream.respond(lines, trailers ? withTrailers : undefined);
  if (trailers) stream.on("wantTrailers", senderOf(trailers));
  stream.end(body);
}

function pushHeader(lines: string[], name: string, value: string | string[]): void {
  if (typeof value === "string") lines.push(name, value);
  else for (const each of value) lines.push(name, each);
}

/** Alternating names and values. Under a symbol, node:http2 finds the names of headers that HPACK must not index. */
type OutgoingLines = string[] & { [name: symbol]: readonly string[] };

const sensitiveHeaders = once(() => process.getBuiltinModule("node:http2").sensitiveHeaders);

/** RFC 7541 §6.2.3: a value that differs in every response would only evict others from the header tables. */
const unique = ["x-request-id"];

const withTrailers = { waitForTrailers: true };

/** Outside `respondOnStream`, whose closure would keep the response in memory as long as the stream. */
const senderOf = memoizeFrozen((trailers: NonNullable<OutgoingResponse["trailers"]>) => {
  return function (this: ServerHttp2Stream): void {
    this.sendTrailers(trailers);
  };
});
