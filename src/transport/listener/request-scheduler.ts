// Schedules requests fairly. A client may send hundreds of requests in one packet; starting them all would delay other clients and
// buffer responses that this one may never read.
import type { ListenerLimits } from "./limits.ts";

/** How soon to check again whether a client has read its responses, in milliseconds. */
const retryMs = 20;

/** The waiting requests of one connection. */
export interface RequestQueue {
  /** The callbacks that start waiting requests. */
  readonly waiting: (() => void)[];
  /** Returns the unsent bytes of the connection. */
  unsentBytes(): number;
  /** Returns the number of its requests that may still start; unlimited if absent. */
  room?(): number;
}

/** Starts a request once its connection has its turn. */
export type Schedule = (queue: RequestQueue, start: () => void) => void;

/**
 * Makes a scheduler. In every event-loop tick some requests of one connection start, connection by connection. A connection with too many
 * unsent bytes waits.
 */
export function newRequestScheduler(
  limits: Pick<ListenerLimits, "maxRequestsAtOnce" | "maxUnreadBytesOfClient">,
): Schedule {
  const queues: RequestQueue[] = [];

  function enter(queue: RequestQueue): void {
    if (queues.push(queue) === 1) setImmediate(startSome);
  }

  function startSome(): void {
    const queue = queues.shift()!;
    if (queues.length > 0) setImmediate(startSome);
    if (queue.waiting.length === 0) return;
    const room = Math.min(limits.maxRequestsAtOnce, queue.room?.() ?? Number.POSITIVE_INFINITY);
    if (room <= 0 || queue.unsentBytes() > limits.maxUnreadBytesOfClient) {
      setTimeout(() => enter(queue), retryMs);
      return;
    }
    for (const start of queue.waiting.splice(0, room)) start();
    if (queue.waiting.length > 0) enter(queue);
  }

  return (queue, start) => {
    if (queue.waiting.push(start) === 1) enter(queue);
  };
}
