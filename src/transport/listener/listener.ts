// The one port: HTTP/1.1 and HTTP/2, plaintext or TLS, told apart connection by connection.

import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { type AddressInfo, type BlockList, createServer, type Server, type Socket } from "node:net";
import { loader, once as made } from "../../base/lazy.ts";
import type { HttpHandler, StreamHandler } from "../http/handlers.ts";
import { markPeer, newPeer, type Peer } from "../http/peer.ts";
import { newConnectionShares } from "./connection-shares.ts";
import { drainer } from "./drain.ts";
import { newHttp1Server } from "./http1-server.ts";
import { type MetLimits, newMetLimits } from "./limit-counters.ts";
import type { ListenerLimits } from "./limits.ts";
import { sniff } from "./protocol-detection.ts";
import { guarded, guardedStream } from "./request-guard.ts";
import { ignore, type SocketServer } from "./socket-server.ts";
import { type Certificate, newHandshakes } from "./tls.ts";
import { boundUnread, type UnreadReport } from "./write-backlog.ts";

const load = loader(import.meta.url);

/** Where and how to listen. */
export interface ListenerOptions {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** The certificate chain and its key, PEM. Without it the port is plaintext. */
  readonly tls?: Certificate;
  readonly limits: ListenerLimits;
  /** Proxies whose forwarding headers name the client; none when absent. */
  readonly trustedProxies?: BlockList;
  readonly handler: HttpHandler;
  /** Looks at each HTTP/2 stream first; what it does not take becomes a request for the handler. */
  readonly fast?: StreamHandler | undefined;
  /** Hears what the handler threw and why a connection could not be accepted, such as too many open files. */
  readonly onError?: (error: unknown) => void;
  /** Hears that connections were closed whose clients did not take their replies. */
  readonly onUnread?: UnreadReport;
}

/** An open port. Disposing of it cuts off every connection. */
export interface Listener extends AsyncDisposable {
  readonly address: { readonly host: string; readonly port: number; readonly url: string };
  /** Aborts as soon as draining begins, so that replies without an end can end. */
  readonly draining: AbortSignal;
  /** Has TLS handshakes that begin from now on use another certificate. Throws when it can't be used; nothing without TLS. */
  renewCertificate(certificate: Certificate): void;
  /** How often clients have met a limit of the listener. */
  readonly metLimits: MetLimits;
  /**
   * Accepts no more, lets what is being answered finish, and resolves when the last connection is gone.
   *
   * What is left after `deadlineMs` is cut off; of several calls the earliest deadline counts.
   */
  drain(deadlineMs: number): Promise<void>;
}

/** Opens the port. Rejects when it is taken, or when the certificate and key can't be used. */
export async function openListener(options: ListenerOptions): Promise<Listener> {
  const { limits, onError = ignore } = options;
  const servers: SocketServer[] = [];
  const sockets = new Set<Socket>();
  const { totals: metLimits, count: onLimit } = newMetLimits();
  const unread = boundUnread(
    servers,
    () => sockets.size > 0,
    limits,
    (connections, bytes) => {
      onLimit("unread replies", connections);
      options.onUnread?.(connections, bytes);
    },
  );
  const handle = guarded(options.handler, limits, onError, onLimit);
  const fast = options.fast && guardedStream(options.fast, onError);
  const handleNext = (request: IncomingMessage, response: ServerResponse) => {
    unread.look();
    handle(request, response);
  };
  const http1 = newHttp1Server(limits, handleNext, onLimit);
  servers.push(http1);
  // node:http2 takes as long to load as the rest of node together: that is for the first connection that speaks it.
  const http2 = made(() => {
    const { newHttp2Server }: typeof import("./http2-server.ts") = load("./http2-server.ts");
    const server = newHttp2Server(limits, handle, fast, unread.look, onLimit);
    servers.push(server);
    return server;
  });
  const draining = new AbortController();
  const undecided = new Set<Socket>();

  const begin = (socket: Socket) => {
    if (draining.signal.aborted) {
      socket.destroy();
      return;
    }
    track(undecided, socket);
    sniff(socket, limits.prefaceTimeoutMs, (protocol) => {
      undecided.delete(socket);
      handOver(socket, protocol === "http1" ? () => http1 : http2, onError);
    });
  };
  const handshakes = options.tls && newHandshakes(options.tls, limits.prefaceTimeoutMs, begin);
  const mayStay = newConnectionShares(limits, onLimit);
  // The HTTP servers would set these on what they accept themselves, which is nothing.
  const socketOptions = { noDelay: true, keepAlive: true, keepAliveInitialDelay: 60_000 };
  const front = createServer(socketOptions, (socket) => {
    const peer = newPeer(socket, options.trustedProxies);
    if (!mayStay(socket, peer)) return;
    markPeer(socket, peer);
    track(sockets, socket);
    unread.start();
    retireInTime(socket, peer, limits.maxConnectionAgeMs);
    if (handshakes) handshakes.accept(socket, peer);
    else begin(socket);
  });
  front.listen({ host: options.host, port: options.port });
  await once(front, "listening");
  front.on("error", onError);

  const port = { front, servers, sockets, undecided };
  const drain = drainer(port, () => draining.abort());
  return {
    address: addressOf(front, options.tls ? "https" : "http"),
    draining: draining.signal,
    renewCertificate: (certificate) => handshakes?.renew(certificate),
    metLimits,
    drain,
    [Symbol.asyncDispose]: () => drain(0),
  };
}

/** Clients that were connected at one moment come back at different ones: every age differs by 10 % at most. */
function retireInTime(socket: Socket, peer: Peer, maxAgeMs: number | undefined): void {
  if (maxAgeMs === undefined) return;
  const timer = setTimeout(() => peer.retire(), maxAgeMs * (0.9 + 0.2 * Math.random())).unref();
  socket.once("close", () => clearTimeout(timer));
}

/** With too many open files nothing can be loaded: that ends the connection rather than the process, and the next tries again. */
function handOver(socket: Socket, server: () => SocketServer, onError: (error: unknown) => void): void {
  try {
    server().accept(socket);
  } catch (error) {
    onError(error);
    socket.destroy();
  }
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
