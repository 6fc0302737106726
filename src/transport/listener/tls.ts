// TLS on connections that the listener has accepted.
import { constants } from "node:crypto";
import type { Socket } from "node:net";
import type { SecureContextOptions, TlsOptions } from "node:tls";
import { markPeer, type Peer } from "../http/peer.ts";

/** A certificate chain and its key, PEM. */
export interface Certificate {
  readonly cert: string | Buffer;
  readonly key: string | Buffer;
}

/** Performs TLS handshakes. */
export interface Handshakes {
  accept(socket: Socket, peer: Peer): void;
  /** Uses another certificate for handshakes from now on. If it is invalid, throws and keeps the current one. */
  renew(certificate: Certificate): void;
}

/** Starts; calls `encrypted` with each connection whose handshake has succeeded. Throws if the certificate is invalid. */
export function newHandshakes(
  certificate: Certificate,
  timeoutMs: number,
  encrypted: (socket: Socket) => void,
): Handshakes {
  const options: TlsOptions = {
    ...contextOf(certificate),
    // RFC 7301: offers both versions. What the client speaks is detected from its first bytes, as without TLS.
    ALPNProtocols: ["h2", "http/1.1"],
    handshakeTimeout: timeoutMs,
  };
  // Connections in their handshake, by addresses and ports: the TLS socket has those of the TCP socket.
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
  // node only reports a handshake that takes too long.
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

/** RFC 9325 §4.2: forward secrecy and authenticated encryption. RFC 9113 Appendix A forbids all others with HTTP/2. */
const tls12Suites = [
  "ECDHE-ECDSA-AES128-GCM-SHA256",
  "ECDHE-RSA-AES128-GCM-SHA256",
  "ECDHE-ECDSA-AES256-GCM-SHA384",
  "ECDHE-RSA-AES256-GCM-SHA384",
];

/** RFC 8446 §B.4. */
const tls13Suites = ["TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"];

function contextOf({ cert, key }: Certificate): SecureContextOptions {
  return {
    cert,
    key,
    // RFC 8996: TLS 1.0 and 1.1 must not be used.
    minVersion: "TLSv1.2",
    ciphers: [...tls13Suites, ...tls12Suites].join(":"),
    // RFC 9113 §9.2.1: HTTP/2 forbids renegotiation, which TLS 1.3 no longer has.
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
  };
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
