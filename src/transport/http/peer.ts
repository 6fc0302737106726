// The other end of a connection, as the listener saw it when it accepted the connection, and what it does since.
import type { BlockList, Socket } from "node:net";
import { canonicalAddress, isInNetworks } from "../../base/network-address.ts";

/** The client of one connection, or the proxy in front of it. */
export interface Peer {
  /** In its canonical spelling; empty when unknown. */
  readonly address: string;
  /** The networks of trusted proxies, if the peer is in one of them: only then its forwarding headers are read. */
  readonly trustedProxies: BlockList | undefined;
  /** Requests that have arrived and whose responses have not ended. */
  requests: number;
  /** Which of all connections was active later: when it was accepted, and when one of its requests ended. */
  lastActive: number;
  /** Asks the client to reconnect, and closes the connection once its requests have responses. */
  closeGracefully(): void;
}

const peer = Symbol("peer");

/** A property of the socket, since node:http2 shows handlers a proxy of it, which no map would know. */
type MarkedSocket = { [peer]?: Peer; readonly remoteAddress?: string | undefined };

let activities = 0;

/** Makes the peer of a connection that is accepted now, perhaps one of these proxies. */
export function newPeer(socket: Socket, proxies: BlockList | undefined): Peer {
  const address = addressOf(socket);
  const isTrusted = proxies !== undefined && address !== "" && isInNetworks(proxies, address);
  return peerAt(address, isTrusted ? proxies : undefined, () => socket.destroy());
}

/** Notes who is at the other end of a socket: of that of TCP, and of that of TLS on top of it. */
export function markPeer(socket: Socket, value: Peer): void {
  (socket as MarkedSocket)[peer] = value;
}

/** Who is at the other end of a socket; a socket that came by no listener of ours trusts nobody. */
export function peerOf(socket: MarkedSocket | undefined): Peer {
  return socket?.[peer] ?? peerAt(addressOf(socket), undefined, () => {});
}

/** Counts a request of a peer that has arrived. */
export function beginRequest(of: Peer): void {
  of.requests++;
}

/** Counts a request of a peer whose response has ended. */
export function endRequest(of: Peer): void {
  of.requests--;
  of.lastActive = ++activities;
}

function peerAt(address: string, trustedProxies: BlockList | undefined, closeGracefully: () => void): Peer {
  return { address, trustedProxies, requests: 0, lastActive: ++activities, closeGracefully };
}

function addressOf(socket: MarkedSocket | undefined): string {
  return canonicalAddress(socket?.remoteAddress ?? "") ?? "";
}
