// Batches HTTP/1 responses: those finished in one event-loop tick are written together at its end. Waking a sleeping client costs about 20 %
// of a small request; batching pays it once. node:http2 writes once per tick itself.

/** How long a response waits for the others of its tick, in milliseconds, unless one of them takes longer. */
const maxWaitMs = 0.5;

let waiting: (() => void)[] = [];
let waitingSince = 0;

/** Runs `send`, which must not throw, at the end of this event-loop tick, or sooner if the tick is long. */
export function sendAtTickEnd(send: () => void): void {
  waiting.push(send);
  if (waiting.length === 1) {
    waitingSince = performance.now();
    setImmediate(sendAll);
  } else if (performance.now() - waitingSince > maxWaitMs) sendAll();
}

function sendAll(): void {
  const sends = waiting;
  waiting = [];
  for (const send of sends) send();
}
