import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { createServer, STATUS_CODES } from "../node-http.ts";
import { ignore, type SocketServer } from "./dispatch.ts";
import { checkInterval, type ListenerLimits } from "./limits.ts";
import { removeFrom } from "./remove.ts";

/** The replies that a connection still owes, in order; a list for the reason that decision 0019 tells. */
type Owed = ServerResponse[];

/** An HTTP/1 server, strict in what it parses, bounded in time and size. */
export function newHttp1Server(
  limits: ListenerLimits,
  handle: (request: IncomingMessage, response: ServerResponse) => void,
): SocketServer {
  const connections = new Map<Duplex, Owed>();
  let retiring = false;

  const server = createServer({
    // RFC 9112 §11.2: no leniency, or a proxy in front may see other requests than we do.
    insecureHTTPParser: false,
    maxHeaderSize: limits.maxHeaderBytes,
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionsCheckingInterval: checkInterval(limits),
  });
  server.maxHeadersCount = limits.maxHeadersCount;
  server.timeout = limits.stallTimeoutMs;

  server.on("request", (request, response) => {
    const owed = connections.get(request.socket);
    if (owed === undefined || owed.length >= limits.maxPipelinedRequests) {
      request.socket.destroy();
      return;
    }
    owed.push(response);
    response.on("close", () => removeFrom(owed, response));
    if (retiring) response.shouldKeepAlive = false;
    handle(request, response);
  });
  server.on("timeout", (socket) => {
    // A quiet server stream is not the client's fault; a reply that it doesn't take is.
    const waiting = (connections.get(socket)?.length ?? 0) > 0 && socket.writableLength === 0;
    if (!waiting) socket.destroy();
  });
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    if (mayAnswer(connections.get(socket))) sendLast(socket, statusOf(error));
    else socket.destroy();
  });
  // Node has taken its listeners off this socket: it is no HTTP connection any more.
  server.on("connect", (_request, socket: Duplex) => sendLast(socket, 501));
  // Arms headersTimeout and requestTimeout, which node enforces for listening servers only.
  server.emit("listening");

  return {
    accept(socket) {
      connections.set(socket, []);
      socket.once("close", () => connections.delete(socket));
      server.emit("connection", socket);
    },
    retire() {
      retiring = true;
      for (const owed of connections.values()) {
        for (const response of owed) response.shouldKeepAlive = false;
      }
      server.closeIdleConnections();
    },
    close() {
      server.close();
    },
  };
}

// A status may only stand for the request that broke, never for one before it that may yet be carried out.
function mayAnswer(owed: Owed | undefined): boolean {
  if (owed === undefined || owed.length === 0) return true;
  const [first] = owed;
  return owed.length === 1 && first !== undefined && !first.headersSent && !first.req.complete;
}

function statusOf(error: NodeJS.ErrnoException): number {
  if (error.code === "HPE_HEADER_OVERFLOW") return 431;
  if (error.code === "HPE_CHUNK_EXTENSIONS_OVERFLOW") return 413;
  if (error.code === "ERR_HTTP_REQUEST_TIMEOUT") return 408;
  return 400;
}

function sendLast(socket: Duplex, status: number): void {
  socket.on("error", ignore);
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`;
  socket.end(head, () => socket.destroy());
}
