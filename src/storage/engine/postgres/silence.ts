// Notices that a server no longer responds before the statement timeout does, which would delay a failover.
import type { Socket } from "node:net";

/** How often to look at the connections, and how long one may wait for a response, in milliseconds. */
const times = { intervalMs: 500, silentMs: 2000 };

/** A connection that may wait for a response. */
export interface WatchedConnection {
  /** Whether a statement has no complete response. */
  readonly isBusy: boolean;
  readonly socket: Socket;
}

/** Receives the connections that do not respond. */
export type SilenceListener = (silent: readonly WatchedConnection[]) => void;

interface Progress {
  readonly bytesRead: number;
  readonly at: number;
}

/**
 * Calls `onSilent` while busy connections have received nothing for too long: the server may be gone, or the statements
 * may be slow. Returns a function that ends the watch.
 */
export function watchSilence(connections: () => Iterable<WatchedConnection>, onSilent: SilenceListener): () => void {
  const progress = new WeakMap<Socket, Progress>();

  function isSilent({ isBusy, socket }: WatchedConnection, now: number): boolean {
    const last = progress.get(socket);
    if (isBusy && last?.bytesRead === socket.bytesRead && now - last.at < times.silentMs) return false;
    const hasExpired = isBusy && last?.bytesRead === socket.bytesRead;
    progress.set(socket, { bytesRead: socket.bytesRead, at: now });
    return hasExpired;
  }

  const timer = setInterval(() => {
    const now = performance.now();
    const silent = [...connections()].filter((connection) => isSilent(connection, now));
    if (silent.length > 0) onSilent(silent);
  }, times.intervalMs);
  timer.unref();
  return () => clearInterval(timer);
}
