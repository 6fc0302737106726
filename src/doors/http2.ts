import {
  constants,
  createServer,
  type Http2Server,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import { type Clock, systemClock } from "../clock.ts";
import { newBudget } from "./budget.ts";
import type { StreamHandler } from "./fast/fast-path.ts";
import { ignore, refuse, type SocketServer } from "./guard.ts";
import { headBytes } from "./head.ts";
import { checkInterval, type ListenerLimits } from "./limits.ts";
import { removeFrom } from "./remove.ts";

/** The open streams of a session; a list for the reason that decision 0019 tells. */
type OpenStreams = {
  readonly stream: ServerHttp2Stream;
  readonly begun: number;
  /** When a sweep first found that its reply was there, and the client had not taken all of it. */
  owedSince?: number;
}[];

// gRPC clients ping to measure the connection while data flows, up to once per reply and more for a long one.
const controlFramesPerStream = 10;

/** An HTTP/2 server, bounded in time, size and in what a client can make it do for nothing. */
export function newHttp2Server(
  limits: ListenerLimits,
  handle: (request: Http2ServerRequest, response: Http2ServerResponse) => void,
  fast: StreamHandler = () => false,
  clock: Clock = systemClock,
): SocketServer {
  const sessions = new Map<ServerHttp2Session, OpenStreams>();
  const server = createServer({
    settings: { maxConcurrentStreams: limits.maxConcurrentStreams, maxHeaderListSize: limits.maxHeaderBytes },
    maxHeaderListPairs: limits.maxHeadersCount,
    maxSessionMemory: limits.maxSessionMemoryMb,
    maxSessionInvalidFrames: 100,
    maxSessionRejectedStreams: limits.maxConcurrentStreams,
    streamResetBurst: limits.streamResetBurst,
    streamResetRate: limits.streamResetRate,
  });
  const requests = newRequestServer(handle);
  server.on("stream", (stream: ServerHttp2Stream, headers, flags, rawHeaders) => {
    // A client that resets its stream, or breaks it, ends it with an error that would end the process if nobody heard it.
    stream.on("error", ignore);
    if (stream.destroyed) return;
    if (headBytes(rawHeaders) <= limits.maxHeaderBytes && fast(stream, headers, rawHeaders)) return;
    requests.emit("stream", stream, headers, flags, rawHeaders);
  });
  server.on("session", (session) => {
    const streams: OpenStreams = [];
    sessions.set(session, streams);
    session.once("close", () => sessions.delete(session));
    watchStreams(session, streams, clock);
    boundControlFrames(session, limits, clock);
    closeWhenIdle(session, streams, limits);
  });

  const sweep = setInterval(() => {
    for (const streams of sessions.values()) {
      cancelSlowRequests(streams, clock() - limits.requestTimeoutMs);
      cancelOwedReplies(streams, clock(), limits.requestTimeoutMs);
    }
  }, checkInterval(limits)).unref();

  return {
    accept: (socket) => void server.emit("connection", socket),
    retire() {
      for (const session of sessions.keys()) session.close();
    },
    close: () => clearInterval(sweep),
  };
}

/** Turns the streams that it is handed into requests, as node does for a server with such a handler. */
function newRequestServer(handle: (request: Http2ServerRequest, response: Http2ServerResponse) => void): Http2Server {
  const server = createServer();
  server.on("request", handle);
  server.on("checkContinue", (request: Http2ServerRequest, response: Http2ServerResponse) => {
    // Node's own way throws when the stream was reset in the same packet.
    if (request.stream.destroyed) return;
    response.writeContinue();
    handle(request, response);
  });
  server.on("connect", (_request: Http2ServerRequest, response: Http2ServerResponse) => refuse(response, 501));
  return server;
}

function watchStreams(session: ServerHttp2Session, streams: OpenStreams, clock: Clock): void {
  session.on("stream", (stream) => {
    const open: OpenStreams[number] = { stream, begun: clock() };
    streams.push(open);
    stream.once("close", () => removeFrom(streams, open));
  });
}

// HTTP/1 has requestTimeout for this; a body over HTTP/2 may take for ever, a byte at a time.
function cancelSlowRequests(streams: OpenStreams, begunBefore: number): void {
  for (const { stream, begun } of streams) {
    if (begun <= begunBefore && isSending(stream)) stream.close(constants.NGHTTP2_CANCEL);
  }
}

// A client that grants no window, and answers when it is pinged, would keep its replies in memory for ever: each may be megabytes.
function cancelOwedReplies(streams: OpenStreams, now: number, timeoutMs: number): void {
  for (const open of streams) {
    if (!open.stream.writableEnded || open.stream.writableLength === 0) continue;
    open.owedSince ??= now;
    if (now - open.owedSince >= timeoutMs) open.stream.close(constants.NGHTTP2_CANCEL);
  }
}

function isSending(stream: ServerHttp2Stream): boolean {
  const { state } = stream.state;
  return state === constants.NGHTTP2_STREAM_STATE_OPEN || state === constants.NGHTTP2_STREAM_STATE_HALF_CLOSED_LOCAL;
}

// RFC 9113 §10.5: frames that ask for an acknowledgement or for bookkeeping and carry nothing.
function boundControlFrames(session: ServerHttp2Session, limits: ListenerLimits, clock: Clock): void {
  const budget = newBudget(limits.controlFrameBurst, limits.controlFrameRate, clock);
  const spend = (): void => {
    if (!budget.spend()) session.destroy(new Error("too many control frames"), constants.NGHTTP2_ENHANCE_YOUR_CALM);
  };
  session.on("ping", spend);
  session.on("remoteSettings", spend);
  session.on("stream", () => budget.refund(controlFramesPerStream));
}

// The listeners above make node count PING as activity, so a client that pings keeps its session, as gRPC clients expect.
function closeWhenIdle(session: ServerHttp2Session, streams: OpenStreams, limits: ListenerLimits): void {
  let pinged = false;
  const stayOpen = (): void => {
    pinged = false;
    if (!session.destroyed) session.setTimeout(limits.http2IdleTimeoutMs);
  };
  session.setTimeout(limits.prefaceTimeoutMs);
  session.once("remoteSettings", stayOpen);
  session.on("timeout", () => {
    const idle = streams.length === 0;
    if (pinged || (idle && session.closed)) return session.destroy();
    session.setTimeout(limits.prefaceTimeoutMs);
    if (idle) return session.close();
    // A stream is open and quiet, such as a watch: ask whether anybody is there.
    pinged = true;
    session.ping((error) => {
      if (error === null) stayOpen();
    });
  });
}
