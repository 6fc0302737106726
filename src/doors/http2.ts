import {
  constants,
  createServer,
  type Http2Server,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import type { Socket } from "node:net";
import { type Clock, systemClock } from "../clock.ts";
import { type Budget, newBudget } from "./budget.ts";
import type { StreamHandler } from "./fast/fast-path.ts";
import { ignore, refuse, type SocketServer } from "./guard.ts";
import { headBytes } from "./head.ts";
import { type IdleWatch, watchIdle } from "./idle-session.ts";
import { checkInterval, type ListenerLimits } from "./limits.ts";
import type { OnLimit } from "./met-limits.ts";
import { beginRequest, endRequest, type Peer, peerOf } from "./peer.ts";
import { removeFrom } from "./remove.ts";
import { type Line, newTurns } from "./turns.ts";
import { type Debt, queuedBytes } from "./unread.ts";

/** The open streams of a session; a list for the reason that decision 0019 tells. */
type OpenStreams = {
  readonly stream: ServerHttp2Stream;
  /** When a sweep first found that the client was still sending. */
  sendingSince?: number;
  /** When a sweep first found that its reply was there, and the client had not taken all of it. */
  owedSince?: number;
}[];

type BeginStream = (
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  flags: number,
  rawHeaders: string[],
) => void;

interface Connection extends Line {
  readonly socket: Socket;
  readonly idle: IdleWatch;
  readonly streams: OpenStreams;
}

// gRPC clients ping to measure the connection while data flows, up to once per reply and more for a long one.
const controlFramesPerStream = 10;

/** An HTTP/2 server, bounded in time, size and in what a client can make it do for nothing. */
export function newHttp2Server(
  limits: ListenerLimits,
  handle: (request: Http2ServerRequest, response: Http2ServerResponse) => void,
  fast: StreamHandler = () => false,
  beforeEach: () => void = ignore,
  onLimit: OnLimit = ignore,
  clock: Clock = systemClock,
): SocketServer {
  const sessions = new Map<ServerHttp2Session, Connection>();
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
  const beginLater = newTurns(limits);
  // The socket whose session is being made.
  let accepting: Socket | undefined;
  const begin: BeginStream = (stream, headers, flags, rawHeaders) => {
    beforeEach();
    if (stream.destroyed) return;
    if (headBytes(rawHeaders) <= limits.maxHeaderBytes && fast(stream, headers, rawHeaders)) return;
    requests.emit("stream", stream, headers, flags, rawHeaders);
  };
  server.on("session", (session) => {
    const streams: OpenStreams = [];
    // Not that of the session, which does not let everything be done with it.
    const socket = accepting!;
    const waiting: Line["waiting"] = [];
    const idle = watchIdle(
      { session, socket, hasStreams: () => streams.length > 0, cutOff: () => cutOff(session, socket) },
      limits,
    );
    const connection: Connection = { socket, streams, waiting, idle, unreadBytes: () => unreadBytes(streams, socket) };
    sessions.set(session, connection);
    const peer = peerOf(socket);
    peer.retire = () => session.close();
    session.once("close", () => {
      sessions.delete(session);
      waiting.length = 0;
    });
    const controlFrames = boundControlFrames(session, limits, onLimit, clock);
    session.on("stream", (stream, headers, flags, rawHeaders) => {
      // A client that resets its stream, or breaks it, ends it with an error that would end the process if nobody heard it.
      stream.on("error", ignore);
      const mayBegin = streams.length < limits.maxRequestsAtOnce;
      watchStream(stream, streams, peer);
      controlFrames.refund(controlFramesPerStream);
      if (mayBegin) begin(stream, headers, flags, rawHeaders);
      else beginLater(connection, begin.bind(undefined, stream, headers, flags, rawHeaders));
    });
  });

  const sweep = setInterval(() => {
    const now = performance.now();
    for (const { streams, idle } of sessions.values()) {
      cancelSlowRequests(streams, now, limits.requestTimeoutMs, onLimit);
      cancelOwedReplies(streams, now, limits.requestTimeoutMs, onLimit);
      idle.look(now);
    }
  }, checkInterval(limits)).unref();

  return {
    accept(socket) {
      accepting = socket;
      server.emit("connection", socket);
      accepting = undefined;
    },
    retire() {
      for (const session of sessions.keys()) session.close();
    },
    debts() {
      const debts: Debt[] = [];
      for (const [session, connection] of sessions) {
        const bytes = connection.unreadBytes();
        if (bytes > 0)
          debts.push({ bytes, cancel: () => cutOff(session, connection.socket, new Error("too much is unread")) });
      }
      return debts;
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
  server.on("connect", (_request: Http2ServerRequest, response: Http2ServerResponse) => refuse(response, 405));
  return server;
}

function watchStream(stream: ServerHttp2Stream, streams: OpenStreams, peer: Peer): void {
  const open: OpenStreams[number] = { stream };
  streams.push(open);
  beginRequest(peer);
  stream.on("close", () => {
    removeFrom(streams, open);
    endRequest(peer);
  });
}

// HTTP/1 has requestTimeout for this; a body over HTTP/2 may take for ever, a byte at a time.
function cancelSlowRequests(streams: OpenStreams, now: number, timeoutMs: number, onLimit: OnLimit): void {
  for (const open of streams) {
    if (!isSending(open.stream)) continue;
    open.sendingSince ??= now;
    if (now - open.sendingSince < timeoutMs) continue;
    onLimit("time of a request");
    open.stream.close(constants.NGHTTP2_CANCEL);
  }
}

// A client that grants no window, and answers when it is pinged, would keep its replies in memory for ever: each may be megabytes.
function cancelOwedReplies(streams: OpenStreams, now: number, timeoutMs: number, onLimit: OnLimit): void {
  for (const open of streams) {
    if (!open.stream.writableEnded || open.stream.writableLength === 0) continue;
    open.owedSince ??= now;
    if (now - open.owedSince < timeoutMs) continue;
    onLimit("time of a reply");
    open.stream.close(constants.NGHTTP2_CANCEL);
  }
}

// What has gone into the socket whole is no stream's any more; what has gone there in part is counted by both.
function unreadBytes(streams: OpenStreams, socket: Socket): number {
  const inStreams = streams.reduce((sum, { stream }) => sum + stream.writableLength, 0);
  return Math.max(inStreams, queuedBytes(socket));
}

// A session waits for its socket, which may have much that the client does not take.
function cutOff(session: ServerHttp2Session, socket: Socket, error?: Error): void {
  session.destroy(error, error && constants.NGHTTP2_ENHANCE_YOUR_CALM);
  setImmediate(() => socket.destroy());
}

function isSending(stream: ServerHttp2Stream): boolean {
  const { state } = stream.state;
  return state === constants.NGHTTP2_STREAM_STATE_OPEN || state === constants.NGHTTP2_STREAM_STATE_HALF_CLOSED_LOCAL;
}

// RFC 9113 §10.5: frames that ask for an acknowledgement or for bookkeeping and carry nothing.
function boundControlFrames(
  session: ServerHttp2Session,
  limits: ListenerLimits,
  onLimit: OnLimit,
  clock: Clock,
): Budget {
  const budget = newBudget(limits.controlFrameBurst, limits.controlFrameRate, clock);
  const spend = (): void => {
    if (budget.spend() || session.destroyed) return;
    onLimit("control frames");
    session.destroy(new Error("too many control frames"), constants.NGHTTP2_ENHANCE_YOUR_CALM);
  };
  session.on("ping", spend);
  session.on("remoteSettings", spend);
  return budget;
}
