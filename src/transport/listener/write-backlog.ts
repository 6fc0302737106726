// Responses that clients do not read stay in memory. Per-connection limits bound one client; this module bounds all of them together.
import type { Socket } from "node:net";
import type { ListenerLimits } from "./limits.ts";
import type { SocketServer } from "./socket-server.ts";

/** Keeps the write backlog of all connections below its limit. */
export interface BacklogLimiter {
  /** Starts checking at intervals, as long as there are connections. */
  start(): void;
  /** Checks now, unless it did within the interval. In a long event-loop tick no timer runs. */
  check(): void;
}

/** Called when connections were closed: how many, and the unsent bytes of all connections before. */
export type BacklogReport = (connections: number, bytes: number) => void;

/** The servers and limits of the backlog monitor. */
export interface BacklogOptions {
  readonly servers: readonly SocketServer[];
  readonly hasConnections: () => boolean;
  readonly limits: Pick<ListenerLimits, "maxUnreadBytes" | "unreadIntervalMs">;
  readonly report: BacklogReport;
}

/**
 * Closes the connections with the largest write backlog while the total exceeds `maxUnreadBytes`. A connection below the average
 * (`maxUnreadBytes / maxConnections`) is never closed.
 */
export function newBacklogLimiter({ servers, hasConnections, limits, report }: BacklogOptions): BacklogLimiter {
  let timer: NodeJS.Timeout | undefined;
  let checkedAt = performance.now();

  function check(): void {
    const now = performance.now();
    if (now - checkedAt < limits.unreadIntervalMs) return;
    cancelLargest(servers, limits.maxUnreadBytes, report);
    checkedAt = now;
  }

  return {
    start() {
      timer ??= setInterval(() => {
        check();
        if (hasConnections()) return;
        clearInterval(timer);
        timer = undefined;
      }, limits.unreadIntervalMs).unref();
    },
    check,
  };
}

/** Bytes of a socket that the system has not taken. node:http2 writes to the handle, past the socket's own count. */
export function queuedBytes(socket: Socket): number {
  return (socket as { _handle?: { writeQueueSize?: number } | null })._handle?.writeQueueSize ?? 0;
}

function cancelLargest(servers: readonly SocketServer[], maxBytes: number, report: BacklogReport): void {
  const backlogs = servers.flatMap((server) => server.backlogs());
  const total = backlogs.reduce((sum, { bytes }) => sum + bytes, 0);
  if (total <= maxBytes) return;
  backlogs.sort((a, b) => b.bytes - a.bytes);
  let cancelled = 0;
  for (let rest = total; rest > maxBytes; rest -= backlogs[cancelled++]!.bytes) backlogs[cancelled]!.cancel();
  report(cancelled, total);
}
