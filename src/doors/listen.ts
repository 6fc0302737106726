// The one port: HTTP/1.1 and HTTP/2, plaintext or TLS, told apart connection by connection.
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { type AddressInfo, type BlockList, createServer, type Server, type Socket } from "node:net";
import type { TlsOptions } from "node:tls";
import { loader, once as made } from "../lazy.ts";
import { drainer } from "./drain.ts";
import type { StreamHandler } from "./fast/fast-path.ts";
import { guarded, guardedStream, type HttpHandler, ignore, type SocketServer } from "./guard.ts";
import { newHttp1Server } from "./http1.ts";
import type { ListenerLimits } from "./limits.ts";
import { type MetLimits, newMetLimits } from "./met-limits.ts";
import { markPeer } from "./peer.ts";
import { sniff } from "./preface.ts";
import { boundUnread, type UnreadReport } from "./unread.ts";

const load = loader(import.meta.url);

/** Where and how to listen. */
export interface ListenerOptions {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** The certificate chain and its key, PEM. Without it the port is plaintext. */
  readonly tls?: { readonly cert: string | Buffer; readonly key: string | Buffer };
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
    const { newHttp2Server }: typeof import("./http2.ts") = load("./http2.ts");
    const server = newHttp2Server(limits, handle, fast, unread.look, onLimit);
    servers.push(server);
    return server;
  });
  const draining = new AbortController();
  const undecided = new Set<Socket>();

  const front = newFront(options, (socket) => {
    if (draining.signal.aborted) {
      socket.destroy();
      return;
    }
    markPeer(socket, options.trustedProxies);
    track(undecided, socket);
    sniff(socket, limits.prefaceTimeoutMs, (protocol) => {
      undecided.delete(socket);
      handOver(socket, protocol === "http1" ? () => http1 : http2, onError);
    });
  });
  front.maxConnections = limits.maxConnections;
  front.on("drop", () => onLimit("connections"));
  front.prependListener("connection", (socket: Socket) => {
    track(sockets, socket);
    unread.start();
  });
  front.listen({ host: options.host, port: options.port });
  await once(front, "listening");
  front.on("error", onError);

  const port = { front, servers, sockets, undecided };
  const drain = drainer(port, () => draining.abort());
  return {
    address: addressOf(front, options.tls ? "https" : "http"),
    draining: draining.signal,
    metLimits,
    drain,
    [Symbol.asyncDispose]: () => drain(0),
  };
}

function newFront(options: ListenerOptions, connected: (socket: Socket) => void): Server {
  // The HTTP servers would set these on what they accept themselves, which is nothing.
  const socketOptions = { noDelay: true, keepAlive: true, keepAliveInitialDelay: 60_000 };
  if (options.tls === undefined) return createServer(socketOptions, connected);
  const tlsOptions: TlsOptions = {
    ...socketOptions,
    ...options.tls,
    // RFC 8996: TLS 1.0 and 1.1 must not be used.
    minVersion: "TLSv1.2",
    // RFC 7301: tells the client what it may speak. What it does speak is seen as without TLS.
    ALPNProtocols: ["h2", "http/1.1"],
    handshakeTimeout: options.limits.prefaceTimeoutMs,
  };
  return newTlsServer(tlsOptions, connected);
}

function newTlsServer(options: TlsOptions, connected: (socket: Socket) => void): Server {
  try {
    const server = process.getBuiltinModule("node:tls").createServer(options, connected);
    // Node only reports a handshake that takes too long.
    server.on("tlsClientError", (_error, socket) => socket.destroy());
    return server;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`tls.cert or tls.key can't be used: ${reason}`, { cause });
  }
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
