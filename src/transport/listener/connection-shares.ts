// How many connections one client and one network may hold, and which connection gives way when there are too many (decision
// 0040).
import type { Socket } from "node:net";
import { clientOf, networkOf } from "../../base/network-address.ts";
import type { Peer } from "../http/peer.ts";
import type { CountLimit } from "./limit-counters.ts";
import type { ListenerLimits } from "./limits.ts";

/** The limits of connections. */
export type ShareLimits = Pick<
  ListenerLimits,
  "maxConnections" | "maxConnectionsPerClient" | "maxConnectionsPerNetwork"
>;

interface Connection {
  readonly socket: Socket;
  readonly peer: Peer;
  readonly client: Holder;
  readonly network: Holder;
}

/** What one client or one network holds. */
interface Holder {
  readonly name: string;
  readonly connections: Set<Connection>;
}

/**
 * Makes the function that decides whether a connection that was just accepted may stay. Where there are too many, it closes one:
 * of the same client or network if that has more than its share, of the largest holder if the listener is full. If that is the
 * new connection itself, the answer is no.
 */
export function newConnectionShares(
  limits: ShareLimits,
  countLimit: CountLimit,
): (socket: Socket, peer: Peer) => boolean {
  const all = new Set<Connection>();
  const holders = new Map<string, Holder>();

  function holderOf(name: string): Holder {
    const holder = holders.get(name) ?? { name, connections: new Set() };
    holders.set(name, holder);
    return holder;
  }

  function add(connection: Connection): void {
    all.add(connection);
    for (const { connections } of [connection.client, connection.network]) connections.add(connection);
  }

  function remove(connection: Connection): void {
    all.delete(connection);
    for (const { name, connections } of [connection.client, connection.network]) {
      connections.delete(connection);
      if (connections.size === 0) holders.delete(name);
    }
  }

  /** The holder whose share the connection exceeds; a proxy has many clients, and no share. */
  function exceeded({ peer, client, network }: Connection): Holder | undefined {
    if (peer.trustedProxies) return undefined;
    if (client.connections.size > limits.maxConnectionsPerClient) return client;
    return network.connections.size > limits.maxConnectionsPerNetwork ? network : undefined;
  }

  /** The connection that is one too many, if any. */
  function surplus(newcomer: Connection): Connection | undefined {
    const holder = exceeded(newcomer);
    if (holder) {
      countLimit("connections of a client");
      return longestSilent(holder.connections, newcomer);
    }
    if (all.size <= limits.maxConnections) return undefined;
    countLimit("connections");
    const silent = longestSilent(all, newcomer);
    return silent === newcomer ? (busyOfLarger(all, newcomer) ?? newcomer) : silent;
  }

  return (socket, peer) => {
    const [client, network] = [clientOf(peer.address), networkOf(peer.address)].map(holderOf) as [Holder, Holder];
    const newcomer: Connection = { socket, peer, client, network };
    add(newcomer);
    const leaving = surplus(newcomer);
    if (leaving) {
      remove(leaving);
      leaving.socket.destroy();
    }
    if (leaving === newcomer) return false;
    socket.once("close", () => remove(newcomer));
    return true;
  };
}

/** Of the connections without a request, that which goes first; the newcomer, which is the latest of them, if no other does. */
function longestSilent(connections: Iterable<Connection>, newcomer: Connection): Connection {
  let first = newcomer;
  for (const each of connections) {
    if (each.peer.requests === 0 && mayGive(each, newcomer) && goesBefore(each, first)) first = each;
  }
  return first;
}

/** Where each connection has a request, that which goes first of clients that hold more than the client of the newcomer. */
function busyOfLarger(connections: Iterable<Connection>, newcomer: Connection): Connection | undefined {
  let first: Connection | undefined;
  for (const each of connections) {
    if (each.client.connections.size <= newcomer.client.connections.size || !mayGive(each, newcomer)) continue;
    if (!first || goesBefore(each, first)) first = each;
  }
  return first;
}

/** The connections of a proxy carry everybody behind it, and give way to another of a proxy only. */
function mayGive({ peer }: Connection, newcomer: Connection): boolean {
  return peer.trustedProxies === undefined || newcomer.peer.trustedProxies !== undefined;
}

/** Those of proxies go last, those of the largest network and in it of the largest client first, and of these the longest silent. */
function goesBefore(one: Connection, other: Connection): boolean {
  const proxies = Number(one.peer.trustedProxies !== undefined) - Number(other.peer.trustedProxies !== undefined);
  const networks = other.network.connections.size - one.network.connections.size;
  const clients = other.client.connections.size - one.client.connections.size;
  return (proxies || networks || clients || one.peer.lastActive - other.peer.lastActive) < 0;
}
