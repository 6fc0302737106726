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
import { type Clock, systemClock } from "../../base/clock.ts";
import type { StreamHandler } from "../http/handlers.ts";
import { beginRequest, endRequest, type Peer, peerOf } from "../http/peer.ts";
import { reject } from "../http/rejection.ts";
import { streamDiscarder } from "./early-response.ts";
import { boundFloods, type FloodBounds } from "./frame-floods.ts";
import { type IdleWatch, watchIdle } from "./idle-session.ts";
import type { OnLimit } from "./limit-counters.ts";
import { checkInterval, type ListenerLimits } from "./limits.ts";
import { removeFrom } from "./remove-item.ts";
import { headBytes } from "./request-head.ts";
import { type Line, newTurns } from "./request-scheduler.ts";
import { type Backlog, ignore, type SocketServer } from "./socket-server.ts";
import { queuedBytes } from "./write-backlog.ts";

/** The open streams of a session; a list for the reason that decision 0019 tells. */
type OpenStreams = {
  readonly stream: ServerHttp2Stream;
  readonly headBytes: number;
  hasBegun: boolean;
  /** When a sweep first found that the client was still sending. */
  sendingSince?: number;
  /** When a sweep first found that its reply was there, and the client had not taken all of it. */
  owedSince?: number;
}[];

type BeginStream = (
  open: OpenStreams[number],
  headers: IncomingHttpHeaders,
  flags: number,
  rawHeaders: string[],
) => void;

interface Connection extends Line {
  readonly socket: Socket;
  readonly peer: Peer;
  readonly idle: IdleWatch;
  readonly floods: FloodBounds;
  readonly streams: OpenStreams;
  /** Of the headers of its streams. */
  headBytes: number;
}

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
    // frame-floods.ts counts resets: what node's own bound meets ends all streams of the session with INTERNAL_ERROR.
    streamResetBurst: Number.MAX_SAFE_INTEGER,
    streamResetRate: Number.MAX_SAFE_INTEGER,
  });
  const requests = newRequestServer(handle);
  const beginLater = newTurns(limits);
  const discardRest = streamDiscarder(limits);
  // The socket whose session is being made.
  let accepting: Socket | undefined;
  const begin: BeginStream = (open, headers, flags, rawHeaders) => {
    beforeEach();
    const { stream } = open;
    if (stream.destroyed) return;
    open.hasBegun = true;
    const isSmall = open.headBytes <= limits.maxHeaderBytes;
    if (!isSmall || !fast(stream, headers, rawHeaders)) requests.emit("stream", stream, headers, flags, rawHeaders);
    // An empty body that ended while the stream waited has told nobody.
    if (stream.readableEnded) stream.emit("end");
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
    const floods = boundFloods(session, limits, onLimit, clock);
    const peer = peerOf(socket);
    peer.retire = () => session.close();
    const connection: Connection = {
      ...{ socket, peer, streams, waiting, idle, floods, headBytes: 0 },
      unreadBytes: () => unreadBytes(streams, socket),
      room: () => limits.maxRunningStreams - streams.filter(({ hasBegun }) => hasBegun).length,
    };
    sessions.set(session, connection);
    session.once("close", () => {
      sessions.delete(session);
      waiting.length = 0;
    });
    session.on("stream", (stream, headers, flags, rawHeaders) => {
      // A client that resets its stream, or breaks it, ends it with an error that would end the process if nobody heard it.
      stream.on("error", ignore);
      // Those of a client that resets streams take their turn, so that one that is reset by then costs no work.
      const mayBegin = streams.length < limits.maxRequestsAtOnce && !floods.hasResets();
      const open = watchStream(stream, headBytes(rawHeaders), connection);
      floods.begins();
      if (connection.headBytes > limits.maxSessionHeaderBytes) {
        // Over HTTP/2 a refused stream has not been worked on, and may be sent again (RFC 9113 §8.7).
        stream.close(constants.NGHTTP2_REFUSED_STREAM);
        return;
      }
      // Before the stream is finished, when node would reset a stream that nobody has read.
      stream.on("prefinish", discardRest);
      if (mayBegin) begin(open, headers, flags, rawHeaders);
      else beginLater(connection, begin.bind(undefined, open, headers, flags, rawHeaders));
    });
  });

  const sweep = setInterval(() => {
    const now = performance.now();
    for (const { streams, idle, floods } of sessions.values()) {
      cancelSlowRequests(streams, now, limits.requestTimeoutMs, onLimit);
      cancelOwedReplies(streams, now, limits.requestTimeoutMs, onLimit);
      floods.look(now);
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
    backlogs() {
      const backlogs: Backlog[] = [];
      for (const [session, connection] of sessions) {
        const bytes = connection.unreadBytes();
        if (bytes > 0)
          backlogs.push({ bytes, cancel: () => cutOff(session, connection.socket, new Error("too much is unread")) });
      }
      return backlogs;
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
  server.on("connect", (_request: Http2ServerRequest, response: Http2ServerResponse) => reject(response, 405));
  return server;
}

function watchStream(stream: ServerHttp2Stream, bytes: number, connection: Connection): OpenStreams[number] {
  const { streams, floods, peer } = connection;
  const open: OpenStreams[number] = { stream, headBytes: bytes, hasBegun: false };
  streams.push(open);
  connection.headBytes += bytes;
  beginRequest(peer);
  stream.on("close", () => {
    removeFrom(streams, open);
    connection.headBytes -= bytes;
    endRequest(peer);
    floods.ends(stream, () => streams.some((each) => !each.stream.destroyed));
  });
  return open;
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
