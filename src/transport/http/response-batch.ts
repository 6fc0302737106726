// Replies over HTTP/1 leave together once the requests that arrived together are worked off. A client that sleeps has to be
// woken by the write, which costs the server a fifth of a small request; while it is awake the next write is cheap.
// node:http2 writes once a turn by itself.

/** How long a reply waits for the others of its turn at most, in milliseconds, as long as no single one takes longer. */
const maxWaitMs = 0.5;

let waiting: (() => void)[] = [];
let waitingSince = 0;

/** Runs `send`, which must not throw, at the end of this turn of the event loop, or sooner when the turn is long. */
export function atEndOfTurn(send: () => void): void {
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
