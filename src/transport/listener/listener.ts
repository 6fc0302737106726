// The port: HTTP/1.1 and HTTP/2, plaintext or TLS, detected for each connection.
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { type AddressInfo, type BlockList, createServer, type Server, type Socket } from "node:net";
import { onceLoaded } from "../../base/lazy.ts";
import { hasCode } from "../../base/system-error.ts";
import type { HttpHandler, StreamHandler } from "../http/handlers.ts";
import { markPeer, newPeer, type Peer } from "../http/peer.ts";
import { newConnectionShares } from "./connection-shares.ts";
import { drainer } from "./drain.ts";
import { newHttp1Server } from "./http1-server.ts";
import { type LimitCounts, newLimitCounters } from "./limit-counters.ts";
import type { ListenerLimits } from "./limits.ts";
import { detectProtocol } from "./protocol-detection.ts";
import { guardHandler, guardStreamHandler } from "./request-guard.ts";
import { ignore, type SocketServer } from "./socket-server.ts";
import { type Certificate, newHandshakes } from "./tls.ts";
import { type BacklogLimiter, type BacklogReport, newBacklogLimiter } from "./write-backlog.ts";

/** The address to listen on, and the options. */
export interface ListenerOptions {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** The certificate chain and its key, PEM. Without it the port is plaintext. */
  readonly tls?: Certificate;
  /** Whether responses over TLS tell browsers to use nothing else: see strict-transport.ts. */
  readonly hsts?: boolean;
  readonly limits: ListenerLimits;
  /** Proxies whose forwarding headers name the client; none when absent. */
  readonly trustedProxies?: BlockList;
  readonly handler: HttpHandler;
  /** Gets each HTTP/2 stream first; streams that it does not take become requests for `handler`. */
  readonly fast?: StreamHandler | undefined;
  /** Called with what the handler throws, and when a connection cannot be accepted, for example with too many open files. */
  readonly onError?: (error: unknown) => void;
  /** Called when connections were closed because of their write backlog. */
  readonly onBacklog?: BacklogReport;
}

/** An open port. Disposing of it closes every connection at once. */
export interface Listener extends AsyncDisposable {
  readonly address: { readonly host: string; readonly port: number; readonly url: string };
  /** Aborted when draining begins: responses without an end then end. */
  readonly draining: AbortSignal;
  /** Uses another certificate for TLS handshakes from now on. Throws if it is invalid; does nothing without TLS. */
  renewCertificate(certificate: Certificate): void;
  /** The number of times that clients have met each limit of the listener. */
  readonly limitCounts: LimitCounts;
  /**
   * Drains: accepts no more connections, lets requests in progress complete, and resolves when the last connection is closed.
   *
   * Connections that are left after `deadlineMs` are closed; the earliest deadline of several calls counts.
   */
  drain(deadlineMs: number): Promise<void>;
}

/** Opens the port. Rejects if it is taken, or if the certificate or key is invalid. */
export async function openListener(options: ListenerOptions): Promise<Listener> {
  const { onError = ignore, tls } = options;
  const sockets = new Set<Socket>();
  const undetected = new Set<Socket>();
  const draining = new AbortController();
  const servers = newServers(options, () => sockets.size > 0);
  const detect = protocolDetector(servers, undetected, options);
  const serve = (socket: Socket) => {
    if (draining.signal.aborted) socket.destroy();
    else detect(socket);
  };
  const handshakes = tls && newHandshakes(tls, options.limits.prefaceTimeoutMs, serve);
  const front = newFront(options, servers, (socket, peer) => {
    track(sockets, socket);
    servers.backlog.start();
    if (handshakes) handshakes.accept(socket, peer);
    else serve(socket);
  });
  await listen(front, options);
  front.on("error", onError);

  const drain = drainer({ front, servers: servers.started, sockets, undetected }, () => draining.abort());
  return {
    address: addressOf(front, tls ? "https" : "http"),
    draining: draining.signal,
    renewCertificate: (certificate) => handshakes?.renew(certificate),
    limitCounts: servers.limits.counts,
    drain,
    [Symbol.asyncDispose]: () => drain(0),
  };
}

/** Opens the port. `[::]` means every address, also on a machine without IPv6. */
async function listen(front: Server, { host, port }: Pick<ListenerOptions, "host" | "port">): Promise<void> {
  front.listen({ host, port });
  try {
    await once(front, "listening");
  } catch (error) {
    if (host !== "::" || !hasCode(error, "EAFNOSUPPORT")) throw error;
    front.listen({ host: "0.0.0.0", port });
    await once(front, "listening");
  }
}

/** Returns the function that gives a connection to the server of its protocol. Until then the connection is in `undetected`. */
function protocolDetector(servers: Servers, undetected: Set<Socket>, { limits, onError = ignore }: ListenerOptions) {
  return (socket: Socket): void => {
    track(undetected, socket);
    detectProtocol(socket, limits.prefaceTimeoutMs, (protocol) => {
      const accept = (server: SocketServer) => {
        undetected.delete(socket);
        if (!socket.destroyed) server.accept(socket);
      };
      if (protocol === "http1") return accept(servers.http1);
      // With too many open files nothing can be loaded: that ends this connection, and the next one tries again.
      servers
        .http2()
        .then(accept)
        .catch((error) => {
          onError(error);
          socket.destroy();
        });
    });
  };
}

/** The servers of both HTTP versions. */
interface Servers {
  readonly http1: SocketServer;
  /** Made for the first connection that speaks HTTP/2. */
  readonly http2: () => Promise<SocketServer>;
  readonly started: readonly SocketServer[];
  readonly backlog: BacklogLimiter;
  readonly limits: ReturnType<typeof newLimitCounters>;
}

function newServers(options: ListenerOptions, hasConnections: () => boolean): Servers {
  const { limits, hsts = false, onError = ignore } = options;
  const started: SocketServer[] = [];
  const counters = newLimitCounters();
  const countLimit = counters.count;
  const report: BacklogReport = (connections, bytes) => {
    countLimit("unread replies", connections);
    options.onBacklog?.(connections, bytes);
  };
  const backlog = newBacklogLimiter({ servers: started, hasConnections, limits, report });
  const handle = guardHandler(options.handler, { limits, onError, countLimit });
  const handleStream = options.fast && guardStreamHandler(options.fast, onError);
  const handleHttp1 = (request: IncomingMessage, response: ServerResponse) => {
    backlog.check();
    handle(request, response);
  };
  const http1 = newHttp1Server({ limits, hsts, handle: handleHttp1, countLimit });
  started.push(http1);
  // node:http2 takes as long to load as the rest of node.
  const http2 = onceLoaded(async () => {
    const { newHttp2Server } = await import("./http2-server.ts");
    const server = newHttp2Server({ limits, hsts, handle, handleStream, beforeEach: backlog.check, countLimit });
    started.push(server);
    return server;
  });
  return { http1, http2, started, backlog, limits: counters };
}

/** Makes the server that accepts connections, within the limits of connections. */
function newFront(
  { limits, tls, trustedProxies }: ListenerOptions,
  servers: Servers,
  accept: (socket: Socket, peer: Peer) => void,
): Server {
  const mayStay = newConnectionShares(limits, servers.limits.count);
  // The HTTP servers would set these for sockets that they accept themselves, but they accept none.
  const socketOptions = { noDelay: true, keepAlive: true, keepAliveInitialDelay: 60_000 };
  return createServer(socketOptions, (socket) => {
    const peer = newPeer(socket, trustedProxies, tls !== undefined);
    if (!mayStay(socket, peer)) return;
    markPeer(socket, peer);
    closeAtAge(socket, peer, limits.maxConnectionAgeMs);
    accept(socket, peer);
  });
}

/** Closes a connection gracefully at its maximum age, ±10 %: clients that connected together reconnect at different times. */
function closeAtAge(socket: Socket, peer: Peer, maxAgeMs: number | undefined): void {
  if (maxAgeMs === undefined) return;
  const close = () => {
    peer.isClosing = true;
    peer.closeGracefully();
  };
  const timer = setTimeout(close, maxAgeMs * (0.9 + 0.2 * Math.random())).unref();
  socket.once("close", () => clearTimeout(timer));
}

function track(sockets: Set<Socket>, socket: Socket): void {
  sockets.add(socket);
  socket.once("close", () => sockets.delete(socket));
  socket.on("error", ignore);
}

function addressOf(server: Server, scheme: string): Listener["address"] {
  const { address, family, port } = server.address() as AddressInfo;
  const host = family === "IPv6" ? `[${address}]` : address;
  return { host: address, port, url: `${scheme}://${host}:${port}` };
}
