// The other end of a connection, as the listener saw it when it accepted the connection.
import type { BlockList, Socket } from "node:net";
import { canonicalAddress, isInNetworks } from "../network-address.ts";

/** The client of a connection, or the proxy in front of it. */
export interface Peer {
  /** In its canonical spelling; empty when unknown. */
  readonly address: string;
  /** The networks of trusted proxies, if the peer is in one of them: only then its forwarding headers are read. */
  readonly trustedProxies: BlockList | undefined;
}

const peer = Symbol("peer");

/** A property of the socket, since node:http2 shows handlers a proxy of it, which no map would know. */
type MarkedSocket = { [peer]?: Peer; readonly remoteAddress?: string | undefined };

/** Notes who is at the other end of a socket, and whether it is one of these proxies. */
export function markPeer(socket: Socket, proxies: BlockList | undefined): void {
  const address = addressOf(socket);
  const isTrusted = proxies !== undefined && address !== "" && isInNetworks(proxies, address);
  (socket as MarkedSocket)[peer] = { address, trustedProxies: isTrusted ? proxies : undefined };
}

/** Who is at the other end of a socket; a socket that came by no listener of ours trusts nobody. */
export function peerOf(socket: MarkedSocket | undefined): Peer {
  return socket?.[peer] ?? { address: addressOf(socket), trustedProxies: undefined };
}

/** The canonical address of the other end; empty once the socket is closed. */
function addressOf(socket: MarkedSocket | undefined): string {
  return canonicalAddress(socket?.remoteAddress ?? "") ?? "";
}
