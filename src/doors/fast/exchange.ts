// One request and its answer, over a stream of HTTP/2 or as a request of HTTP/1.
import type { ServerHttp2Stream } from "node:http2";
import { resourceExhausted } from "../../aip/errors.ts";
import type { Call } from "../../pipeline/call.ts";
import { type BodyLimits, readBody } from "../body.ts";
import { clientLeft } from "../client.ts";
import { internalError } from "../guard.ts";
import { HttpError } from "../http-error.ts";
import type { HttpRequest, HttpResponse } from "../http-message.ts";
import { type ChunkLimits, isCutTooFinely } from "../limits.ts";
import { callHeaders, sendReply } from "../reply.ts";
import type { Answer } from "./protocol.ts";

/** What a call needs of the connection. */
export interface Exchange {
  /** The whole body. Rejects with an ApiError when it is too large, too finely cut, too late or cut off. */
  readonly body: Promise<Buffer>;
  /** Whether an answer was sent. */
  hasReplied(): boolean;
  /** Sends the first answer and drops any later one. `thrown` is what the answer tells of. */
  reply(answer: Answer, call: Call, thrown?: unknown): void;
  /** Ends it without an answer. */
  cutOff(): void;
}

/** Takes over a stream of HTTP/2, whose body may have so many bytes. */
export function streamExchange(stream: ServerHttp2Stream, maxBytes: number, limits: ChunkLimits): Exchange {
  let replied = false;
  return {
    body: receive(stream, maxBytes, limits),
    hasReplied() {
      return replied;
    },
    reply(answer, call) {
      if (replied || stream.destroyed || stream.closed) return;
      replied = true;
      respond(stream, answer, call);
    },
    cutOff() {
      stream.close(internalError);
    },
  };
}

/** Takes over a request of HTTP/1. */
export function requestExchange(request: HttpRequest, response: HttpResponse, limits: BodyLimits): Exchange {
  let replied = false;
  return {
    body: readBody(request, limits),
    hasReplied() {
      return replied;
    },
    reply({ status, headers, body = new Uint8Array() }, call, thrown) {
      if (replied || response.destroyed) return;
      replied = true;
      const closes = thrown instanceof HttpError && thrown.closes;
      sendReply(request, response, { status, headers, body, closes }, callHeaders(call), limits);
    },
    cutOff() {
      response.destroy();
    },
  };
}

/** Sends an answer on a stream of HTTP/2. */
export function respond(stream: ServerHttp2Stream, { status, headers, body, trailers }: Answer, call: Call): void {
  // As a list, which node:http2 writes as it is.
  const lines = [":status", String(status), "x-request-id", call.requestId];
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

const withTrailers = { waitForTrailers: true };

/** Apart from the reply, which a listener made there would keep as long as the stream. */
function senderOf(trailers: NonNullable<Answer["trailers"]>): (this: ServerHttp2Stream) => void {
  return function () {
    this.sendTrailers(trailers);
  };
}

/** Collects the body; one that is too large, too finely cut or cut off ends in an error rather than in memory or in a call. */
function receive(stream: ServerHttp2Stream, maxBytes: number, limits: ChunkLimits): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let isOver = false;
    const refuse = (problem: string) => {
      isOver = true;
      chunks.length = 0;
      reject(resourceExhausted(problem));
    };
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      if (isOver) return;
      if (size > maxBytes) refuse(`the body is larger than ${maxBytes} bytes`);
      else if (isCutTooFinely(chunks.push(chunk), size, limits)) refuse("the body comes in too many pieces");
    };
    // Streams that can be written to survive until a full collection, for a closure that node:stream gives each of them: what
    // they hold on to stays as long.
    const settle = () => stream.off("data", onData).off("end", onEnd).off("close", onGone);
    const onEnd = () => {
      settle();
      // RFC 9113 §8.1: only the client ends its request. A stream that is cut off, by either side, ends for node as well.
      if (stream.aborted) reject(clientLeft());
      else resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks));
    };
    const onGone = () => {
      settle();
      reject(clientLeft());
    };
    stream.on("data", onData).on("end", onEnd).on("close", onGone);
  });
}
