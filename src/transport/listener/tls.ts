// TLS on top of the connections that the listener has accepted.
import type { Socket } from "node:net";
import type { SecureContextOptions, TlsOptions } from "node:tls";
import { markPeer, type Peer } from "../http/peer.ts";

/** A certificate chain and its key, PEM. */
export interface Certificate {
  readonly cert: string | Buffer;
  readonly key: string | Buffer;
}

/** Takes over connections until they are encrypted. */
export interface Handshakes {
  accept(socket: Socket, peer: Peer): void;
  /** Has handshakes that begin from now on use another certificate. Throws when it can't be used, and keeps the present one. */
  renew(certificate: Certificate): void;
}

/** Begins; `encrypted` is handed the connections whose handshake has succeeded. Throws when the certificate can't be used. */
export function newHandshakes(
  certificate: Certificate,
  timeoutMs: number,
  encrypted: (socket: Socket) => void,
): Handshakes {
  const options: TlsOptions = {
    ...contextOf(certificate),
    // RFC 7301: tells the client what it may speak. What it does speak is seen as without TLS.
    ALPNProtocols: ["h2", "http/1.1"],
    handshakeTimeout: timeoutMs,
  };
  // Connections whose handshake goes on. The socket of TLS has the ends of that of TCP, which no two have in common.
  const begun = new Map<string, Peer>();
  const server = usable(() => process.getBuiltinModule("node:tls").createServer(options));
  server.on("secureConnection", (socket) => {
    const peer = begun.get(endsOf(socket));
    if (!peer) {
      socket.destroy();
      return;
    }
    markPeer(socket, peer);
    encrypted(socket);
  });
  // Node only reports a handshake that takes too long.
  server.on("tlsClientError", (_error, socket) => socket.destroy());
  return {
    accept(socket, peer) {
      const ends = endsOf(socket);
      begun.set(ends, peer);
      socket.once("close", () => {
        if (begun.get(ends) === peer) begun.delete(ends);
      });
      server.emit("connection", socket);
    },
    renew: (next) => usable(() => server.setSecureContext(contextOf(next))),
  };
}

function contextOf({ cert, key }: Certificate): SecureContextOptions {
  // RFC 8996: TLS 1.0 and 1.1 must not be used.
  return { cert, key, minVersion: "TLSv1.2" };
}

function usable<T>(make: () => T): T {
  try {
    return make();
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`tls.cert or tls.key can't be used: ${reason}`, { cause });
  }
}

function endsOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`;
}
