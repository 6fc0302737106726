// Limits the connections per client and per network, and chooses the one to close when there are too many (docs/design/api.md).
import type { Socket } from "node:net";
import { clientOf, networkOf } from "../../base/network-address.ts";
import type { Peer } from "../http/peer.ts";
import type { CountLimit } from "./limit-counters.ts";
import type { ListenerLimits } from "./limits.ts";

/** The limits on the number of connections. */
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

/** The connections of one client or network. */
interface Holder {
  readonly name: string;
  readonly connections: Set<Connection>;
}

/**
 * Makes the function that decides whether a connection that was just accepted may stay. If there are too many, it closes one: of the
 * same client or network if that exceeds its share, of the largest holder if the listener is full. It returns false if that is the new
 * connection itself.
 *
 * Longer than 40 lines because its functions share the tables of connections and holders.
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

  /** Returns the holder whose share the connection exceeds. A trusted proxy has many clients and no share. */
  function exceeded({ peer, client, network }: Connection): Holder | undefined {
    if (peer.trustedProxies) return undefined;
    if (client.connections.size > limits.maxConnectionsPerClient) return client;
    return network.connections.size > limits.maxConnectionsPerNetwork ? network : undefined;
  }

  /** Returns the connection to close, if there are too many. */
  function surplus(newcomer: Connection): Connection | undefined {
    const holder = exceeded(newcomer);
    if (holder) {
      countLimit("connections of a client");
      return longestIdle(holder.connections, newcomer);
    }
    if (all.size <= limits.maxConnections) return undefined;
    countLimit("connections");
    const idle = longestIdle(all, newcomer);
    return idle === newcomer ? (busyOfLargerClient(all, newcomer) ?? newcomer) : idle;
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

/** Returns the first connection to close among those without a request: the newcomer, which is the latest, if there is no other. */
function longestIdle(connections: Iterable<Connection>, newcomer: Connection): Connection {
  let first = newcomer;
  for (const each of connections) {
    if (each.peer.requests === 0 && mayCloseFor(each, newcomer) && closesBefore(each, first)) first = each;
  }
  return first;
}

/** If every connection has a request: returns the first one to close, of clients with more connections than that of the newcomer. */
function busyOfLargerClient(connections: Iterable<Connection>, newcomer: Connection): Connection | undefined {
  let first: Connection | undefined;
  for (const each of connections) {
    if (each.client.connections.size <= newcomer.client.connections.size || !mayCloseFor(each, newcomer)) continue;
    if (!first || closesBefore(each, first)) first = each;
  }
  return first;
}

/** A connection of a proxy carries many clients: it is closed only for another connection of a proxy. */
function mayCloseFor({ peer }: Connection, newcomer: Connection): boolean {
  return peer.trustedProxies === undefined || newcomer.peer.trustedProxies !== undefined;
}

/** Orders connections for closing: largest network first, in it the largest client, then the longest idle one; proxies last. */
function closesBefore(one: Connection, other: Connection): boolean {
  const proxies = Number(one.peer.trustedProxies !== undefined) - Number(other.peer.trustedProxies !== undefined);
  const networks = other.network.connections.size - one.network.connections.size;
  const clients = other.client.connections.size - one.client.connections.size;
  return (proxies || networks || clients || one.peer.lastActive - other.peer.lastActive) < 0;
}
