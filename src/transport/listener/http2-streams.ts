// The open streams of an HTTP/2 session, and which of them take too long.
import {
  constants,
  type OutgoingHttpHeaders,
  type ServerHttp2Stream,
  type ServerStreamResponseOptions,
} from "node:http2";
import type { Socket } from "node:net";
import { isIdleStream } from "../http/long-lived-stream.ts";
import { beginRequest, endRequest, type Peer } from "../http/peer.ts";
import { strictTransport } from "../http/strict-transport.ts";
import type { FloodLimiter } from "./frame-floods.ts";
import type { CountLimit } from "./limit-counters.ts";
import { removeFrom } from "./remove-item.ts";
import { queuedBytes } from "./write-backlog.ts";

/** One open stream. */
export interface OpenStream {
  readonly stream: ServerHttp2Stream;
  /** Bytes of its headers. */
  readonly headBytes: number;
  hasStarted: boolean;
  /** When a sweep first found that the client was still sending. */
  sendingSince?: number;
  /** When a sweep first found that the response was complete and the client had not read all of it. */
  unreadSince?: number;
}

/** The state that the streams of a session share. */
export interface StreamOwner {
  readonly peer: Peer;
  readonly floods: FloodLimiter;
  /** A list rather than a Set: decision 0019. */
  readonly streams: OpenStream[];
  /** Bytes of the headers of all streams. */
  headBytes: number;
}

/** Counts a stream until it closes. */
export function trackStream(stream: ServerHttp2Stream, headBytes: number, owner: StreamOwner): OpenStream {
  const { streams, floods, peer } = owner;
  const open: OpenStream = { stream, headBytes, hasStarted: false };
  streams.push(open);
  owner.headBytes += headBytes;
  beginRequest(peer);
  stream.on("close", () => {
    removeFrom(streams, open);
    owner.headBytes -= headBytes;
    endRequest(peer);
    floods.streamClosed(stream, () => streams.some((each) => !each.stream.destroyed));
  });
  return open;
}

/** Makes the response of a stream tell browsers to use TLS only. Every response passes here, those of libraries included. */
export function respondStrictly(stream: ServerHttp2Stream): void {
  stream.respond = strictRespond;
}

const [strictName, strictValue] = strictTransport;

function strictRespond(
  this: ServerHttp2Stream,
  headers: OutgoingHttpHeaders | readonly string[] = {},
  options?: ServerStreamResponseOptions,
): void {
  // Added in place: a list may also name sensitive headers, under a symbol.
  if (Array.isArray(headers)) headers.push(strictName, strictValue);
  else (headers as OutgoingHttpHeaders)[strictName] = strictValue;
  Object.getPrototypeOf(this).respond.call(this, headers, options);
}

/** Whether a stream counts towards `maxRunningStreams`. */
export function isRunning({ stream, hasStarted }: OpenStream): boolean {
  return hasStarted && !isIdleStream(stream);
}

/** Cancels streams whose request takes longer to arrive than this: HTTP/1 has node's requestTimeout for it. */
export function cancelSlowRequests(
  streams: readonly OpenStream[],
  now: number,
  timeoutMs: number,
  countLimit: CountLimit,
): void {
  for (const open of streams) {
    if (!isSending(open.stream)) continue;
    open.sendingSince ??= now;
    if (now - open.sendingSince < timeoutMs) continue;
    countLimit("time of a request");
    open.stream.close(constants.NGHTTP2_CANCEL);
  }
}

/**
 * Cancels streams whose complete response the client takes longer than this to read. A client that grants no window, but responds to
 * pings, would keep it in memory without end.
 */
export function cancelUnreadResponses(
  streams: readonly OpenStream[],
  now: number,
  timeoutMs: number,
  countLimit: CountLimit,
): void {
  for (const open of streams) {
    if (!open.stream.writableEnded || open.stream.writableLength === 0) continue;
    open.unreadSince ??= now;
    if (now - open.unreadSince < timeoutMs) continue;
    countLimit("time of a reply");
    open.stream.close(constants.NGHTTP2_CANCEL);
  }
}

/** Returns the unsent bytes of a session. Data that has entered the socket in part is counted by both stream and socket. */
export function unsentBytes(streams: readonly OpenStream[], socket: Socket): number {
  const inStreams = streams.reduce((sum, { stream }) => sum + stream.writableLength, 0);
  return Math.max(inStreams, queuedBytes(socket));
}

function isSending(stream: ServerHttp2Stream): boolean {
  const { state } = stream.state;
  return state === constants.NGHTTP2_STREAM_STATE_OPEN || state === constants.NGHTTP2_STREAM_STATE_HALF_CLOSED_LOCAL;
}
