// HTTP Strict Transport Security (RFC 6797): browsers that have seen the header use no plaintext for the host.
import type { IncomingHttpHeaders } from "node:http";
import type { Socket } from "node:net";
import { type Peer, peerOf } from "./peer.ts";

/** The header, for a year. */
export const strictTransport = ["strict-transport-security", "max-age=31536000"] as const;

/**
 * Whether the response to a request has the header: its client used TLS, up to this server or up to a trusted proxy, for a host that is
 * not this machine. On `localhost`, other programs speak plaintext. Over plaintext clients ignore the header (§8.1).
 */
export function isStrict(peer: Peer, headers: IncomingHttpHeaders): boolean {
  if (!peer.isEncrypted && !isForwardedOverTls(peer, headers)) return false;
  return !isLoopbackHost(headers.host ?? headers[":authority"]?.toString() ?? "");
}

/** Returns whether the response to a request that cannot be read has the header. The host is known only from the TLS handshake. */
export function isStrictConnection(socket: Socket): boolean {
  const name = "servername" in socket ? socket.servername : undefined;
  return peerOf(socket).isEncrypted && typeof name === "string" && name !== "" && !isLoopbackHost(name);
}

function isForwardedOverTls({ trustedProxies }: Peer, headers: IncomingHttpHeaders): boolean {
  if (trustedProxies === undefined) return false;
  const { forwarded, "x-forwarded-proto": protocol } = headers;
  // The first entry is that of the proxy that the client reached.
  return /^\s*https\s*(?:,|$)/i.test(protocol?.toString() ?? "") || /^[^,]*\bproto="?https\b/i.test(forwarded ?? "");
}

/** RFC 6761 §6.3: names below `localhost` are loopback as well. */
function isLoopbackHost(host: string): boolean {
  return /^(?:(?:[\w-]+\.)*localhost\.?|127\.\d+\.\d+\.\d+|\[::1\])(?::\d*)?$/i.test(host);
}
