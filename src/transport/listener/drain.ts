import { once } from "node:events";
import type { Server, Socket } from "node:net";
import type { SocketServer } from "./socket-server.ts";

/** What a port consists of. */
export interface Port {
  /** Accepts the connections. */
  readonly front: Server;
  /** Answer on them. */
  readonly servers: readonly SocketServer[];
  /** Every connection that is open. */
  readonly sockets: ReadonlySet<Socket>;
  /** Connections that no server has been given yet. */
  readonly undecided: ReadonlySet<Socket>;
}

// How often to look for connections that have become idle.
const pollMs = 100;

/**
 * Makes the function that closes a port gracefully: it resolves when the last connection is gone.
 *
 * Whatever is left after the given milliseconds is destroyed; of several calls the earliest deadline counts.
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
  destroyAll(port.undecided);
  const retire = (): void => {
    for (const server of port.servers) server.retire();
  };
  retire();
  const poll = setInterval(retire, pollMs);
  await closed;
  clearInterval(poll);
  for (const server of port.servers) server.close();
}

function destroyAll(sockets: ReadonlySet<Socket>): void {
  for (const socket of sockets) socket.destroy();
}
