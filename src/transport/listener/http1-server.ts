import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { http } from "../../base/node-http.ts";
import { awaitContinue } from "../http/expect-continue.ts";
import { beginRequest, endRequest } from "../http/peer.ts";
import { isStrictConnection } from "../http/strict-transport.ts";
import { closeInStages, http1Messages } from "./early-response.ts";
import {
  closeAfterPending,
  closesItself,
  dropWaiting,
  endsWithLastRequest,
  type Http1Connection,
  hasOnlyCompleteRequests,
  mayRespondToError,
  mayStart,
  newHttp1Connection,
} from "./http1-connection.ts";
import { lastResponse, limitOf, statusOf } from "./http1-errors.ts";
import type { CountLimit } from "./limit-counters.ts";
import { checkInterval, type ListenerLimits } from "./limits.ts";
import { removeFrom } from "./remove-item.ts";
import { newRequestScheduler, type Schedule } from "./request-scheduler.ts";
import { type Backlog, ignore, type SocketServer } from "./socket-server.ts";

/** The options of an HTTP/1 server. */
export interface Http1ServerOptions {
  readonly limits: ListenerLimits;
  /** Whether responses over TLS have Strict-Transport-Security. */
  readonly hsts: boolean;
  readonly handle: (request: IncomingMessage, response: ServerResponse) => void;
  readonly countLimit: CountLimit;
}

/** How often a draining server closes connections that have become idle, in milliseconds. */
const drainIntervalMs = 100;

/** Makes an HTTP/1 server, strict in what it parses, bounded in time and size. */
export function newHttp1Server(options: Http1ServerOptions): SocketServer {
  return new Http1Server(options);
}

class Http1Server implements SocketServer {
  readonly #options: Http1ServerOptions;
  readonly #server: Server;
  readonly #connections = new Map<Socket, Http1Connection>();
  readonly #schedule: Schedule;
  #isDraining = false;
  #onDrained = ignore;

  constructor(options: Http1ServerOptions) {
    this.#options = options;
    this.#schedule = newRequestScheduler(options.limits);
    this.#server = newNodeServer(options);
    this.#server.on("request", (request, response) => this.#onRequest(request, response));
    this.#server.on("checkContinue", (request, response) => {
      awaitContinue(request, response);
      this.#onRequest(request, response);
    });
    this.#server.on("timeout", (socket) => this.#onTimeout(socket));
    this.#server.on("clientError", (error, duplex) => this.#onParseError(error, duplex as Socket));
    // Node has removed its listeners from this socket: it no longer is an HTTP connection.
    this.#server.on("connect", (_request, socket: Duplex) => this.#sendLast(socket as Socket, 405));
    // Starts the timers of headersTimeout and requestTimeout, which node starts for listening servers only.
    this.#server.emit("listening");
  }

  accept(socket: Socket): void {
    const connection = newHttp1Connection(socket);
    connection.peer.closeGracefully = () => {
      connection.mustReconnect = true;
      closeAfterPending(connection);
    };
    this.#connections.set(socket, connection);
    closeWithoutReset(connection, this.#options.limits);
    socket.once("close", () => {
      this.#connections.delete(socket);
      dropWaiting(connection);
      if (this.#connections.size === 0) this.#onDrained();
    });
    this.#server.emit("connection", socket);
  }

  backlogs(): Backlog[] {
    return [...this.#connections.values()].flatMap((connection) => {
      const bytes = connection.unsentBytes();
      return bytes > 0 ? [{ bytes, cancel: () => connection.socket.destroy() }] : [];
    });
  }

  async drain(): Promise<void> {
    this.#isDraining = true;
    for (const connection of this.#connections.values()) closeAfterPending(connection);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onDrained = resolve;
    if (this.#connections.size === 0) resolve();
    // A request may be on its way to an idle connection: it gets a response with `Connection: close`. Idle connections are closed only after
    // a while, because a client cannot tell whether a closed connection carried out its request.
    const timer = setInterval(() => {
      for (const connection of this.#connections.values()) closeAfterPending(connection);
      this.#server.closeIdleConnections();
    }, drainIntervalMs);
    await promise;
    clearInterval(timer);
    this.#server.close();
  }

  #onRequest(request: IncomingMessage, response: ServerResponse): void {
    const { limits, countLimit, handle } = this.#options;
    // Kept here: a handler that stops reading before the end, as leaving a `for await` does, takes the socket from the request.
    const { socket } = request;
    const connection = this.#connections.get(socket);
    if (connection?.isClosing) return;
    // RFC 9112 §9.6: a request behind a response with `close` must not be carried out.
    if (connection === undefined || closesItself(connection)) {
      // Node keeps each of them until the connection closes.
      if (!connection || ++connection.ignoredRequests > limits.maxPipelinedRequests) socket.destroy();
      return;
    }
    const { pendingResponses } = connection;
    if (pendingResponses.length >= limits.maxPipelinedRequests) {
      connection.ignoredRequests++;
      countLimit("pipelined requests");
      closeAfterPending(connection);
      return;
    }
    this.#addPending(connection, request, response);
    if (pendingResponses.length === 1) {
      handle(request, response);
      return;
    }
    const start = () => {
      if (!socket.destroyed && mayStart(connection, response)) handle(request, response);
    };
    if (pendingResponses.length <= limits.maxRequestsAtOnce) this.#schedule(connection, start);
    else connection.deferred.push(start);
  }

  #addPending(connection: Http1Connection, request: IncomingMessage, response: ServerResponse): void {
    const { pendingResponses, peer } = connection;
    pendingResponses.push(response);
    beginRequest(peer);
    response.on("close", () => {
      endRequest(peer);
      connection.closesAfterPending = closesItself(connection);
      removeFrom(pendingResponses, response);
      connection.unfinished = request.complete ? undefined : request;
      // A handler that has started to read the body may leave the rest of it unread.
      if (connection.unfinished) request.resume();
      if (!response.shouldKeepAlive) dropWaiting(connection);
      const next = connection.deferred.shift();
      if (next) this.#schedule(connection, next);
    });
    if (this.#isDraining || connection.mustReconnect) response.shouldKeepAlive = false;
  }

  #onTimeout(socket: Socket): void {
    // A quiet server stream is not the client's fault; a response that it does not read is.
    const isPending = (this.#connections.get(socket)?.pendingResponses.length ?? 0) > 0;
    if (isPending && socket.writableLength === 0) return;
    if (isPending) this.#options.countLimit("time of a reply");
    socket.destroy();
  }

  #onParseError(error: NodeJS.ErrnoException, socket: Socket): void {
    const connection = this.#connections.get(socket) ?? newHttp1Connection(socket);
    // Discarded bytes may break off anywhere.
    if (connection.isClosing) return;
    const limit = limitOf(error);
    if (limit) this.#options.countLimit(limit);
    if (mayRespondToError(connection)) this.#sendLast(socket, statusOf(error));
    else if (hasOnlyCompleteRequests(connection)) closeAfterPending(connection);
    else socket.destroy();
  }

  #sendLast(socket: Socket, status: number): void {
    socket.on("error", ignore);
    if (!socket.writable) {
      socket.destroy();
      return;
    }
    socket.write(lastResponse(status, this.#options.hsts && isStrictConnection(socket)));
    socket.destroySoon();
  }
}

function newNodeServer({ limits, hsts }: Http1ServerOptions): Server {
  const server = http.createServer({
    ...http1Messages(limits, hsts),
    // RFC 9112 §11.2: no leniency, or a proxy in front may see other requests than we do.
    insecureHTTPParser: false,
    // request-head.ts rejects requests without one, and then nothing behind them is read either.
    requireHostHeader: false,
    maxHeaderSize: limits.maxHeaderBytes,
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionsCheckingInterval: checkInterval(limits),
  });
  server.maxHeadersCount = limits.maxHeadersCount;
  server.timeout = limits.stallTimeoutMs;
  return server;
}

/** Replaces what node calls behind the last response, which would reset a connection with unread bytes: see early-response.ts. */
function closeWithoutReset(connection: Http1Connection, limits: ListenerLimits): void {
  const { socket } = connection;
  const { destroySoon } = socket;
  socket.destroySoon = () => {
    if (connection.isClosing) return;
    connection.isClosing = true;
    if (endsWithLastRequest(connection)) destroySoon.call(socket);
    else closeInStages(socket, limits);
  };
}
