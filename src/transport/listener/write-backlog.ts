// Replies that clients do not take stay in memory. What one connection may ask for at once bounds what it is owed, but not what
// all of them are: see limits.ts.

import type { Socket } from "node:net";
import type { ListenerLimits } from "./limits.ts";
import type { SocketServer } from "./socket-server.ts";

/** Keeps what is owed below its bound. */
export interface UnreadBound {
  /** Looks again and again from now on, while there are connections. */
  start(): void;
  /** Looks now, unless it did so lately. In a long turn of the event loop no timer does. */
  look(): void;
}

/** Told when connections were closed: how many, and how many bytes were owed before. */
export type UnreadReport = (connections: number, bytes: number) => void;

/**
 * Bounds what all connections of these servers are owed.
 *
 * Those that are owed most are closed. They are owed more than the average, so with `maxConnections` of them it never meets one
 * that is owed less than this part of the bound.
 */
export function boundUnread(
  servers: readonly SocketServer[],
  hasConnections: () => boolean,
  limits: Pick<ListenerLimits, "maxUnreadBytes" | "unreadIntervalMs">,
  report: UnreadReport,
): UnreadBound {
  let timer: NodeJS.Timeout | undefined;
  let looked = performance.now();

  function look(): void {
    const now = performance.now();
    if (now - looked < limits.unreadIntervalMs) return;
    cancelLargest(servers, limits.maxUnreadBytes, report);
    looked = now;
  }

  return {
    start() {
      timer ??= setInterval(() => {
        look();
        if (hasConnections()) return;
        clearInterval(timer);
        timer = undefined;
      }, limits.unreadIntervalMs).unref();
    },
    look,
  };
}

/** Bytes that were handed to the system with a socket and that it has not taken; node:http2 writes past the stream that it is. */
export function queuedBytes(socket: Socket): number {
  return (socket as { _handle?: { writeQueueSize?: number } | null })._handle?.writeQueueSize ?? 0;
}

function cancelLargest(servers: readonly SocketServer[], maxBytes: number, report: UnreadReport): void {
  const backlogs = servers.flatMap((server) => server.backlogs());
  const owed = backlogs.reduce((sum, { bytes }) => sum + bytes, 0);
  if (owed <= maxBytes) return;
  backlogs.sort((a, b) => b.bytes - a.bytes);
  let cancelled = 0;
  for (let rest = owed; rest > maxBytes; rest -= backlogs[cancelled++]!.bytes) backlogs[cancelled]!.cancel();
  report(cancelled, owed);
}
