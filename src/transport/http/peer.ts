// The peer of a connection: its address as accepted, and its activity since.
import type { BlockList, Socket } from "node:net";
import { canonicalAddress, isInNetworks } from "../../base/network-address.ts";

/** The client of a connection, or the proxy in front of it. */
export interface Peer {
  /** Canonical; empty when unknown. */
  readonly address: string;
  /** The networks of trusted proxies if the peer is in one of them: only then its forwarding headers count. */
  readonly trustedProxies: BlockList | undefined;
  /** Whether the connection uses TLS. */
  readonly isEncrypted: boolean;
  /** Requests whose responses have not ended. */
  requests: number;
  /** Orders connections by their last activity: when they were accepted, or when one of their requests ended. */
  lastActive: number;
  /** Whether the client was asked to reconnect. */
  isClosing: boolean;
  /** Asks the client to reconnect, and closes the connection once its requests have responses. */
  closeGracefully(): void;
}

const peer = Symbol("peer");

/** A property of the socket rather than a map entry, because node:http2 gives handlers a proxy of the socket. */
type MarkedSocket = { [peer]?: Peer; readonly remoteAddress?: string | undefined };

let activities = 0;

/** Makes the peer of a connection that was just accepted. It is trusted if `proxies` contains its address. */
export function newPeer(socket: Socket, proxies: BlockList | undefined, isEncrypted: boolean): Peer {
  const address = addressOf(socket);
  const isTrusted = proxies !== undefined && address !== "" && isInNetworks(proxies, address);
  return peerAt(address, isTrusted ? proxies : undefined, isEncrypted, () => socket.destroy());
}

/** Attaches the peer to a socket: to the TCP socket, and to the TLS socket on top of it. */
export function markPeer(socket: Socket, value: Peer): void {
  (socket as MarkedSocket)[peer] = value;
}

/** Returns the peer of a socket. A socket that the listener did not accept has no trusted proxies. */
export function peerOf(socket: MarkedSocket | undefined): Peer {
  return socket?.[peer] ?? peerAt(addressOf(socket), undefined, false, () => {});
}

/** Counts a request that has arrived. */
export function beginRequest(of: Peer): void {
  of.requests++;
}

/** Counts a request whose response has ended. */
export function endRequest(of: Peer): void {
  of.requests--;
  of.lastActive = ++activities;
}

function peerAt(
  address: string,
  trustedProxies: BlockList | undefined,
  isEncrypted: boolean,
  closeGracefully: () => void,
): Peer {
  return {
    address,
    trustedProxies,
    isEncrypted,
    requests: 0,
    lastActive: ++activities,
    isClosing: false,
    closeGracefully,
  };
}

function addressOf(socket: MarkedSocket | undefined): string {
  return canonicalAddress(socket?.remoteAddress ?? "") ?? "";
}
