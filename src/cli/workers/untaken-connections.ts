// Connections that a worker was given, and had not taken when it ended.
import type { Worker } from "node:cluster";

/** A connection, as node:cluster sends it: a handle of libuv. Closing it again does nothing. */
interface Connection {
  close(): void;
}

/**
 * Closes the connections that the worker was given but has not taken, once it has ended. node:cluster forgets them, but keeps them open:
 * their clients would wait for ever. There is at most one for each port, because a worker gets the next one after it took the last.
 */
export function closeUntakenConnections(worker: Worker): void {
  const { process: child } = worker;
  const last = new Map<unknown, Connection>();
  const send = child.send.bind(child) as (...message: readonly unknown[]) => boolean;
  child.send = (message: unknown, connection?: unknown, ...rest: readonly unknown[]) => {
    if (isConnection(connection)) last.set((message as { readonly key?: unknown }).key, connection);
    return send(message, connection, ...rest);
  };
  worker.once("exit", () => {
    for (const connection of last.values()) connection.close();
  });
}

function isConnection(value: unknown): value is Connection {
  return typeof (value as Partial<Connection> | undefined)?.close === "function";
}
