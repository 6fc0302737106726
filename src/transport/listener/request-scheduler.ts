// A client may send hundreds of requests in one packet. If all of them began at once, everybody else would wait until they are
// done, and their replies would be in memory before it is known whether the client takes any.
import type { ListenerLimits } from "./limits.ts";

/** How soon to look again whether a client has taken something, in milliseconds. */
const patienceMs = 20;

/** The requests of one connection that wait, and what its client has not taken yet. */
export interface Line {
  readonly waiting: (() => void)[];
  unreadBytes(): number;
  /** How many more of its requests may be worked on; any number when absent. */
  room?(): number;
}

/** Has the work of a request begin later. */
export type BeginLater = (line: Line, begin: () => void) => void;

/**
 * Makes what has requests wait: in every turn of the event loop some of one connection begin, the connections one after the
 * other, and none of a connection whose client leaves too much untaken.
 */
export function newTurns(limits: Pick<ListenerLimits, "maxRequestsAtOnce" | "maxUnreadBytesOfClient">): BeginLater {
  const lines: Line[] = [];

  function enter(line: Line): void {
    if (lines.push(line) === 1) setImmediate(beginSome);
  }

  function beginSome(): void {
    const line = lines.shift()!;
    if (lines.length > 0) setImmediate(beginSome);
    if (line.waiting.length === 0) return;
    const room = Math.min(limits.maxRequestsAtOnce, line.room?.() ?? Number.POSITIVE_INFINITY);
    if (room <= 0 || line.unreadBytes() > limits.maxUnreadBytesOfClient) {
      setTimeout(() => enter(line), patienceMs);
      return;
    }
    for (const begin of line.waiting.splice(0, room)) begin();
    if (line.waiting.length > 0) enter(line);
  }

  return (line, begin) => {
    if (line.waiting.push(begin) === 1) enter(line);
  };
}
