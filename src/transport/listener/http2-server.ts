import {
  constants,
  createServer,
  Http2ServerRequest,
  type Http2ServerResponse,
  type IncomingHttpHeaders,
  type Http2Server as NodeHttp2Server,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import type { Socket } from "node:net";
import { type Clock, systemClock } from "../../base/clock.ts";
import { awaitContinue, continueRequest } from "../http/expect-continue.ts";
import type { StreamHandler } from "../http/handlers.ts";
import { peerOf } from "../http/peer.ts";
import { reject } from "../http/rejection.ts";
import { isStrict } from "../http/strict-transport.ts";
import { streamDiscarder } from "./early-response.ts";
import { newFloodLimiter } from "./frame-floods.ts";
import {
  cancelSlowRequests,
  cancelUnreadResponses,
  isRunning,
  type OpenStream,
  respondStrictly,
  type StreamOwner,
  trackStream,
  unsentBytes,
} from "./http2-streams.ts";
import { type IdleWatch, watchIdle } from "./idle-session.ts";
import type { CountLimit } from "./limit-counters.ts";
import { checkInterval, type ListenerLimits } from "./limits.ts";
import { headBytes } from "./request-head.ts";
import { newRequestScheduler, type RequestQueue, type Schedule } from "./request-scheduler.ts";
import { type Backlog, ignore, type SocketServer } from "./socket-server.ts";

/** The options of an HTTP/2 server. */
export interface Http2ServerOptions {
  readonly limits: ListenerLimits;
  /** Whether responses over TLS have Strict-Transport-Security; absent means no. */
  readonly hsts?: boolean;
  readonly handle: (request: Http2ServerRequest, response: Http2ServerResponse) => void;
  /** Gets each stream first; streams that it does not take become requests for `handle`. */
  readonly handleStream?: StreamHandler | undefined;
  /** Called before each request. */
  readonly beforeEach?: () => void;
  readonly countLimit?: CountLimit;
  readonly clock?: Clock;
}

/** A stream as node reports it. */
type StreamEvent = readonly [
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  flags: number,
  rawHeaders: string[],
];

interface Connection extends RequestQueue, StreamOwner {
  readonly session: ServerHttp2Session;
  readonly socket: Socket;
  readonly idle: IdleWatch;
}

/** Makes an HTTP/2 server, bounded in time, size and in the work that clients can cause for free. */
export function newHttp2Server(options: Http2ServerOptions): SocketServer {
  return new Http2Server(options);
}

class Http2Server implements SocketServer {
  readonly #options: Required<Omit<Http2ServerOptions, "handleStream">> & Pick<Http2ServerOptions, "handleStream">;
  readonly #server: NodeHttp2Server;
  readonly #requests: NodeHttp2Server;
  readonly #connections = new Set<Connection>();
  readonly #schedule: Schedule;
  readonly #discardRest: (this: ServerHttp2Stream) => void;
  readonly #sweepTimer: NodeJS.Timeout;
  /** The socket whose session node is creating. */
  #accepting: Socket | undefined;
  #onDrained = ignore;

  constructor(options: Http2ServerOptions) {
    const { limits } = options;
    this.#options = { hsts: false, beforeEach: ignore, countLimit: ignore, clock: systemClock, ...options };
    this.#server = newNodeServer(limits);
    this.#requests = newRequestServer(options.handle);
    this.#schedule = newRequestScheduler(limits);
    this.#discardRest = streamDiscarder(limits);
    this.#server.on("session", (session) => this.#onSession(session));
    this.#sweepTimer = setInterval(() => this.#sweep(), checkInterval(limits)).unref();
  }

  accept(socket: Socket): void {
    this.#accepting = socket;
    this.#server.emit("connection", socket);
    this.#accepting = undefined;
  }

  backlogs(): Backlog[] {
    return [...this.#connections].flatMap(({ session, socket, unsentBytes }) => {
      const bytes = unsentBytes();
      return bytes > 0 ? [{ bytes, cancel: () => cutOff(session, socket, new Error("too much is unread")) }] : [];
    });
  }

  async drain(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onDrained = resolve;
    if (this.#connections.size === 0) resolve();
    for (const { session } of this.#connections) session.close();
    await promise;
    clearInterval(this.#sweepTimer);
  }

  #onSession(session: ServerHttp2Session): void {
    // The socket that the session shows forbids some calls.
    const connection = this.#newConnection(session, this.#accepting!);
    this.#connections.add(connection);
    session.once("close", () => {
      this.#connections.delete(connection);
      connection.waiting.length = 0;
      if (this.#connections.size === 0) this.#onDrained();
    });
    session.on("stream", (...event) => this.#onStream(connection, event));
  }

  #newConnection(session: ServerHttp2Session, socket: Socket): Connection {
    const { limits, countLimit, clock } = this.#options;
    const streams: OpenStream[] = [];
    const peer = peerOf(socket);
    peer.closeGracefully = () => session.close();
    const hasStreams = () => streams.length > 0;
    return {
      session,
      socket,
      peer,
      streams,
      waiting: [],
      headBytes: 0,
      idle: watchIdle({ session, socket, hasStreams, cutOff: () => cutOff(session, socket) }, limits),
      floods: newFloodLimiter({ session, limits, countLimit, clock }),
      unsentBytes: () => unsentBytes(streams, socket),
      room: () => limits.maxRunningStreams - streams.filter(isRunning).length,
    };
  }

  #onStream(connection: Connection, event: StreamEvent): void {
    const { limits } = this.#options;
    const { streams, floods } = connection;
    const [stream, headers, , rawHeaders] = event;
    // A stream that its client resets or breaks emits an error, which would end the process without a listener.
    stream.on("error", ignore);
    if (this.#options.hsts && isStrict(connection.peer, headers)) respondStrictly(stream);
    // Streams of a client that resets streams wait: one that is reset by then causes no work.
    const mayStart = streams.length < limits.maxRequestsAtOnce && !floods.hasResets();
    const open = trackStream(stream, headBytes(rawHeaders), connection);
    floods.streamOpened();
    if (connection.headBytes > limits.maxSessionHeaderBytes) {
      // RFC 9113 §8.7: a client may safely send a refused stream again.
      stream.close(constants.NGHTTP2_REFUSED_STREAM);
      return;
    }
    // "prefinish" comes before node resets a stream whose request was not read.
    stream.on("prefinish", this.#discardRest);
    if (mayStart) this.#start(open, event);
    else this.#schedule(connection, () => this.#start(open, event));
  }

  #start(open: OpenStream, [stream, headers, flags, rawHeaders]: StreamEvent): void {
    const { limits, beforeEach, handleStream } = this.#options;
    beforeEach();
    if (stream.destroyed) return;
    open.hasStarted = true;
    const isSmall = open.headBytes <= limits.maxHeaderBytes;
    if (!isSmall || !handleStream?.(stream, headers, rawHeaders))
      this.#requests.emit("stream", stream, headers, flags, rawHeaders);
    // Nobody was listening when an empty body ended while the stream waited.
    if (stream.readableEnded) stream.emit("end");
  }

  #sweep(): void {
    const { limits, countLimit } = this.#options;
    const now = performance.now();
    for (const { streams, idle, floods } of this.#connections) {
      cancelSlowRequests(streams, now, limits.requestTimeoutMs, countLimit);
      cancelUnreadResponses(streams, now, limits.requestTimeoutMs, countLimit);
      floods.check(now);
      idle.check(now);
    }
  }
}

function newNodeServer(limits: ListenerLimits): NodeHttp2Server {
  return createServer({
    settings: { maxConcurrentStreams: limits.maxConcurrentStreams, maxHeaderListSize: limits.maxHeaderBytes },
    maxHeaderListPairs: limits.maxHeadersCount,
    // Otherwise nghttp2 drops a field whose value ends with a space, such as a token from a file. Over HTTP/1 spaces do not belong to the value
    // (RFC 9110 §5.5). It always drops values with CR, LF or NUL, and node reports no such field.
    strictFieldWhitespaceValidation: false,
    maxSessionMemory: limits.maxSessionMemoryMb,
    maxSessionInvalidFrames: 100,
    maxSessionRejectedStreams: limits.maxConcurrentStreams,
    // frame-floods.ts counts resets: node's own limit ends all streams of the session with INTERNAL_ERROR.
    streamResetBurst: Number.MAX_SAFE_INTEGER,
    streamResetRate: Number.MAX_SAFE_INTEGER,
  });
}

/** A request that asks for its body once it is read. */
class Request extends Http2ServerRequest {
  override _read(size: number): void {
    // Writing throws if the stream was reset in the same packet.
    if (!this.stream.destroyed) continueRequest(this);
    super._read(size);
  }
}

/** Makes the server that turns streams into requests, as node does for a server with such a handler. */
function newRequestServer(handle: Http2ServerOptions["handle"]): NodeHttp2Server {
  const server = createServer({ Http2ServerRequest: Request });
  server.on("request", handle);
  server.on("checkContinue", (request: Http2ServerRequest, response: Http2ServerResponse) => {
    awaitContinue(request, response);
    handle(request, response);
  });
  server.on("connect", (_request: Http2ServerRequest, response: Http2ServerResponse) => reject(response, 405));
  return server;
}

/** Ends a session at once. Without destroying the socket, the session would wait for unsent bytes that the client does not read. */
function cutOff(session: ServerHttp2Session, socket: Socket, error?: Error): void {
  session.destroy(error, error && constants.NGHTTP2_ENHANCE_YOUR_CALM);
  setImmediate(() => socket.destroy());
}
