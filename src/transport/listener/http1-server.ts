import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { http } from "../../base/node-http.ts";
import { beginRequest, endRequest, type Peer, peerOf } from "../http/peer.ts";
import { closeInStages, http1Messages } from "./early-response.ts";
import { lastResponse, limitOf, statusOf } from "./http1-errors.ts";
import type { OnLimit } from "./limit-counters.ts";
import { checkInterval, type ListenerLimits } from "./limits.ts";
import { removeFrom } from "./remove-item.ts";
import { type Line, newTurns } from "./request-scheduler.ts";
import { type Backlog, ignore, type SocketServer } from "./socket-server.ts";

interface Connection extends Line {
  readonly peer: Peer;
  /** Whether the next response asks the client to reconnect. */
  isRetired: boolean;
  /** The replies that it still owes, in order; a list for the reason that decision 0019 tells. */
  readonly owed: ServerResponse[];
  /** The requests behind too many others, which get in line one by one as replies get through. */
  readonly behind: (() => void)[];
  /** Whether it ends with these: nothing that comes behind them is heard. */
  isEnding: boolean;
  /** Whether the last of them is written: what still comes is discarded. */
  isClosing: boolean;
  /** A request that was answered before its body had ended. */
  unfinished: IncomingMessage | undefined;
  /** Requests that were not heard. */
  unheard: number;
}

/** An HTTP/1 server, strict in what it parses, bounded in time and size. */
export function newHttp1Server(
  limits: ListenerLimits,
  handle: (request: IncomingMessage, response: ServerResponse) => void,
  onLimit: OnLimit = ignore,
): SocketServer {
  const connections = new Map<Socket, Connection>();
  const beginLater = newTurns(limits);
  let retiring = false;

  const server = http().createServer({
    ...http1Messages(limits),
    // RFC 9112 §11.2: no leniency, or a proxy in front may see other requests than we do.
    insecureHTTPParser: false,
    // head.ts refuses requests without one, so that nothing behind them is heard either.
    requireHostHeader: false,
    maxHeaderSize: limits.maxHeaderBytes,
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionsCheckingInterval: checkInterval(limits),
  });
  server.maxHeadersCount = limits.maxHeadersCount;
  server.timeout = limits.stallTimeoutMs;

  server.on("request", (request, response) => {
    // Who stops reading a request before its end, as leaving a `for await` does, takes its socket from it.
    const { socket } = request;
    const connection = connections.get(socket);
    if (connection?.isClosing) return;
    // RFC 9112 §9.6: what comes behind a request whose reply says `close` must not be carried out.
    if (connection === undefined || endsItself(connection)) {
      // Node keeps each of them until the connection is gone.
      if (!connection || ++connection.unheard > limits.maxPipelinedRequests) socket.destroy();
      return;
    }
    const { owed } = connection;
    if (owed.length >= limits.maxPipelinedRequests) {
      connection.unheard++;
      onLimit("pipelined requests");
      endBehindOwed(connection, socket);
      return;
    }
    owed.push(response);
    beginRequest(connection.peer);
    response.on("close", () => {
      endRequest(connection.peer);
      connection.isEnding = endsItself(connection);
      removeFrom(owed, response);
      connection.unfinished = request.complete ? undefined : request;
      // A handler that has begun to read the body leaves the rest of it to nobody.
      if (connection.unfinished) request.resume();
      if (!response.shouldKeepAlive) forgetWaiting(connection);
      const next = connection.behind.shift();
      if (next) beginLater(connection, next);
    });
    if (retiring || connection.isRetired) response.shouldKeepAlive = false;
    if (owed.length === 1) {
      handle(request, response);
      return;
    }
    const begin = () => {
      if (!socket.destroyed && isStillWanted(connection, response)) handle(request, response);
    };
    if (owed.length <= limits.maxRequestsAtOnce) beginLater(connection, begin);
    else connection.behind.push(begin);
  });
  server.on("timeout", (socket) => {
    // A quiet server stream is not the client's fault; a reply that it doesn't take is.
    const isOwed = (connections.get(socket)?.owed.length ?? 0) > 0;
    if (isOwed && socket.writableLength === 0) return;
    if (isOwed) onLimit("time of a reply");
    socket.destroy();
  });
  server.on("clientError", (error: NodeJS.ErrnoException, duplex) => {
    const socket = duplex as Socket;
    const connection = connections.get(socket) ?? newConnection(socket);
    // What is discarded may break off anywhere.
    if (connection.isClosing) return;
    const limit = limitOf(error);
    if (limit) onLimit(limit);
    if (mayAnswer(connection)) sendLast(socket, statusOf(error));
    else if (isBehindWhole(connection)) endBehindOwed(connection, socket);
    else socket.destroy();
  });
  // Node has taken its listeners off this socket: it is no HTTP connection any more.
  server.on("connect", (_request, socket: Duplex) => sendLast(socket as Socket, 405));
  // Arms headersTimeout and requestTimeout, which node enforces for listening servers only.
  server.emit("listening");

  return {
    accept(socket) {
      const connection = newConnection(socket);
      connection.peer.retire = () => {
        connection.isRetired = true;
        endBehindOwed(connection, socket);
      };
      connections.set(socket, connection);
      const { destroySoon } = socket;
      // What node calls behind the last response: see early-response.ts.
      socket.destroySoon = () => {
        if (connection.isClosing) return;
        connection.isClosing = true;
        if (isWhole(connection)) destroySoon.call(socket);
        else closeInStages(socket, limits);
      };
      socket.once("close", () => {
        connections.delete(socket);
        forgetWaiting(connection);
      });
      server.emit("connection", socket);
    },
    retire() {
      for (const [socket, connection] of connections) endBehindOwed(connection, socket);
      // To a connection that looks idle a request may be on its way: it is answered, with `Connection: close`. Only those that
      // are idle the next time are closed, since who meets a closed connection cannot tell whether a request was carried out.
      if (retiring) server.closeIdleConnections();
      retiring = true;
    },
    backlogs() {
      const backlogs: Backlog[] = [];
      for (const [socket, connection] of connections) {
        const bytes = connection.unreadBytes();
        if (bytes > 0) backlogs.push({ bytes, cancel: () => socket.destroy() });
      }
      return backlogs;
    },
    close() {
      server.close();
    },
  };
}

function newConnection(socket: Socket): Connection {
  const owed: ServerResponse[] = [];
  return {
    peer: peerOf(socket),
    isRetired: false,
    owed,
    behind: [],
    waiting: [],
    unreadBytes: () => unreadBytes(owed),
    isEnding: false,
    isClosing: false,
    unfinished: undefined,
    unheard: 0,
  };
}

// Only the first of them counts what is in the socket, since the others do not have it yet.
function unreadBytes(owed: readonly ServerResponse[]): number {
  return owed.reduce((sum, { writableLength }) => sum + writableLength, 0);
}

function forgetWaiting({ behind, waiting }: Connection): void {
  behind.length = 0;
  waiting.length = 0;
}

// RFC 9112 §9.6: a reply before a request that waited may have come to say `close`.
function isStillWanted({ owed }: Connection, response: ServerResponse): boolean {
  return owed.find((each) => each === response || !each.shouldKeepAlive) === response;
}

function endsItself({ owed, isEnding }: Connection): boolean {
  return isEnding || owed.some(({ shouldKeepAlive }) => !shouldKeepAlive);
}

/** Has a connection end with the last of the replies that it owes; one that owes none stays as it is. */
function endBehindOwed(connection: Connection, socket: Socket): void {
  const last = connection.owed.at(-1);
  if (!last || connection.isEnding) return;
  connection.isEnding = true;
  if (!last.headersSent) last.shouldKeepAlive = false;
  else last.once("close", () => socket.destroySoon());
}

// A status may only stand for the request that broke, never for one before it that may yet be carried out.
function mayAnswer({ owed, unfinished }: Connection): boolean {
  // What broke is the body of a request that has its reply: a second one would pass for that to the next.
  if (unfinished && !unfinished.complete) return false;
  if (owed.length === 0) return true;
  const [first] = owed;
  return owed.length === 1 && first !== undefined && !first.headersSent && !first.req.complete;
}

// Whether nothing comes behind the request whose response is the last.
function isWhole({ owed, unheard }: Connection): boolean {
  return owed.length === 1 && owed[0]!.req.complete && unheard === 0;
}

// A body that broke has its request end with the connection, before its reply or behind it.
function isBehindWhole({ owed }: Connection): boolean {
  return owed.length > 0 && owed.every(({ req }) => req.complete);
}

function sendLast(socket: Socket, status: number): void {
  socket.on("error", ignore);
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  socket.write(lastResponse(status));
  socket.destroySoon();
}
