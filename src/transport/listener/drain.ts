import { once } from "node:events";
import type { Server, Socket } from "node:net";
import type { SocketServer } from "./socket-server.ts";

/** The parts of an open port. */
export interface Port {
  /** Accepts the connections. */
  readonly front: Server;
  /** Respond on them. */
  readonly servers: readonly SocketServer[];
  /** Every open connection. */
  readonly sockets: ReadonlySet<Socket>;
  /** Connections whose protocol is not known yet. */
  readonly undetected: ReadonlySet<Socket>;
}

/**
 * Makes the function that drains a port and resolves when its last connection is closed.
 *
 * Connections that are left after the given milliseconds are destroyed; the earliest deadline of several calls counts.
 */
export function drainer(port: Port, begin: () => void): (deadlineMs: number) => Promise<void> {
  let drained: Promise<void> | undefined;
  return async (deadlineMs) => {
    drained ??= drainPort(port, begin);
    const deadline = setTimeout(() => destroyAll(port.sockets), deadlineMs);
    await drained;
    clearTimeout(deadline);
  };
}

async function drainPort(port: Port, begin: () => void): Promise<void> {
  const closed = once(port.front, "close");
  port.front.close();
  begin();
  destroyAll(port.undetected);
  await Promise.all([closed, ...port.servers.map((server) => server.drain())]);
}

function destroyAll(sockets: ReadonlySet<Socket>): void {
  for (const socket of sockets) socket.destroy();
}
