// One request and its answer, over a stream of HTTP/2 or as a request of HTTP/1.

import type { ServerHttp2Stream } from "node:http2";
import { type ApiError, resourceExhausted } from "../../aip/errors.ts";
import { once } from "../../base/lazy.ts";
import { memoizeFrozen } from "../../base/memoize-frozen.ts";
import type { Call } from "../../pipeline/call.ts";
import { type ChunkLimits, hasTooSmallChunks } from "../http/chunk-limits.ts";
import { internalError } from "../http/http2-error-codes.ts";
import type { HttpRequest, HttpResponse } from "../http/message.ts";
import { messageTooLarge } from "../http/message-size.ts";
import { type BodyLimits, readBody } from "../http/request-body.ts";
import { clientDisconnected } from "../http/request-lifetime.ts";
import { callHeaders, sendReply } from "../http/response.ts";
import type { Answer } from "./protocol.ts";

/** What a call needs of the connection. */
export interface Exchange {
  /** The whole body. Rejects with an ApiError when it is too large, too finely cut, too late or cut off. */
  readonly body: Promise<Buffer>;
  /** Whether an answer was sent. */
  hasReplied(): boolean;
  /** Sends the first answer and drops any later one. */
  reply(answer: Answer, call: Call): void;
  /** Ends it without an answer. */
  cutOff(): void;
}

// The exchange of a stream is found on it, so that its listeners need not close over it: streams that can be written to survive
// until a full collection, for a closure that node:stream gives each of them, and what they hold on to stays as long.
const exchange = Symbol("exchange");

interface Served extends ServerHttp2Stream {
  [exchange]?: StreamExchange | undefined;
}

/** Takes over a stream of HTTP/2, whose body may have a message of so many bytes behind a prefix. */
export class StreamExchange implements Exchange {
  readonly body: Promise<Buffer>;
  readonly #stream: Served;
  readonly #maxBytes: number;
  readonly #prefixBytes: number;
  readonly #limits: ChunkLimits;
  readonly #chunks: Buffer[] = [];
  #size = 0;
  #isRefused = false;
  #hasReplied = false;
  #resolve!: (body: Buffer) => void;
  #reject!: (error: ApiError) => void;

  constructor(stream: Served, maxBytes: number, limits: ChunkLimits, prefixBytes = 0) {
    this.#stream = stream;
    this.#maxBytes = maxBytes;
    this.#prefixBytes = prefixBytes;
    this.#limits = limits;
    this.body = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    stream[exchange] = this;
    stream.on("data", onData).on("end", onEnd).on("close", onClose);
  }

  hasReplied(): boolean {
    return this.#hasReplied;
  }

  reply(answer: Answer, call: Call): void {
    if (this.#hasReplied) return;
    this.#hasReplied = true;
    respond(this.#stream, answer, call);
  }

  cutOff(): void {
    this.#stream.close(internalError);
  }

  /** Collects the body; one that is too large, too finely cut or cut off ends in an error rather than in memory or in a call. */
  take(chunk: Buffer): void {
    this.#size += chunk.length;
    if (this.#isRefused) return;
    if (this.#size > this.#maxBytes + this.#prefixBytes) this.#refuse(messageTooLarge(this.#maxBytes));
    else if (hasTooSmallChunks(this.#chunks.push(chunk), this.#size, this.#limits))
      this.#refuse(resourceExhausted("the body comes in too many pieces"));
  }

  end(): void {
    this.#stream[exchange] = undefined;
    const chunks = this.#chunks;
    // RFC 9113 §8.1: only the client ends its request. A stream that is cut off, by either side, ends for node as well.
    if (this.#stream.aborted) this.#reject(clientDisconnected());
    else this.#resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks));
  }

  leave(): void {
    this.#stream[exchange] = undefined;
    this.#reject(clientDisconnected());
  }

  #refuse(error: ApiError): void {
    this.#isRefused = true;
    this.#chunks.length = 0;
    this.#reject(error);
  }
}

function onData(this: Served, chunk: Buffer): void {
  this[exchange]?.take(chunk);
}

function onEnd(this: Served): void {
  this[exchange]?.end();
}

function onClose(this: Served): void {
  this[exchange]?.leave();
}

/** Takes over a request of HTTP/1, whose message has a prefix of so many bytes. */
export function requestExchange(
  request: HttpRequest,
  response: HttpResponse,
  limits: BodyLimits,
  prefixBytes: number,
): Exchange {
  let replied = false;
  return {
    body: readBody(request, limits, prefixBytes),
    hasReplied() {
      return replied;
    },
    reply({ status, headers, body = new Uint8Array() }, call) {
      if (replied || response.destroyed) return;
      replied = true;
      sendReply(request, response, { status, headers, body }, callHeaders(call));
    },
    cutOff() {
      response.destroy();
    },
  };
}

/** Sends an answer on a stream of HTTP/2; to a client that has left, nothing. */
export function respond(stream: ServerHttp2Stream, { status, headers, body, trailers }: Answer, call: Call): void {
  if (stream.destroyed || stream.closed) return;
  // As a list, which node:http2 writes as it is.
  const lines = [":status", String(status), "x-request-id", call.requestId] as OutgoingLines;
  lines[sensitiveHeaders()] = unique;
  for (const name in headers) if (!call.replyHeaders.has(name)) lines.push(name, headers[name]!);
  for (const [name, value] of call.replyHeaders) lines.push(name, value);
  if (!body) {
    for (const name in trailers) lines.push(name, trailers[name]!);
    stream.respond(lines, { endStream: true });
    return;
  }
  stream.respond(lines, trailers ? withTrailers : undefined);
  if (trailers) stream.on("wantTrailers", senderOf(trailers));
  stream.end(body);
}

/** Names and values in turn; node:http2 looks for the names of those that no table is to have under a symbol of its own. */
type OutgoingLines = string[] & { [name: symbol]: readonly string[] };

const sensitiveHeaders = once(() => process.getBuiltinModule("node:http2").sensitiveHeaders);

/** RFC 7541 §6.2.3: what no two replies have the same would only push others out of the tables of headers, at either end. */
const unique = ["x-request-id"];

const withTrailers = { waitForTrailers: true };

/** Apart from the reply, which a listener made there would keep as long as the stream. */
const senderOf = memoizeFrozen((trailers: NonNullable<Answer["trailers"]>) => {
  return function (this: ServerHttp2Stream): void {
    this.sendTrailers(trailers);
  };
});
