// Deadlines of requests. One timer looks after all of them: nearly every request is over long before its own, and to set and
// clear a timer for each costs as much as finding its route.

interface Deadline {
  /** As `performance.now` counts. */
  readonly at: number;
  readonly expire: () => void;
}

/** How much later than its time a deadline may be noticed, in milliseconds. */
const sweepMs = 50;

// Places in a list rather than a Set. What comes and goes with every request makes a Set outgrow one table after the other, and
// V8 has each of them hold on to the next: once a full collection has moved one to the old generation, all that follow survive,
// and the requests in them, until the next full collection.
const pending: (Deadline | undefined)[] = [];
const free: number[] = [];
let sweeper: NodeJS.Timeout | undefined;

/** Calls `expire` once so many milliseconds have passed, or a little later, unless the answer is called before. */
export function startDeadline(ms: number, expire: () => void): () => void {
  const deadline = { at: performance.now() + ms, expire };
  const place = free.pop() ?? pending.length;
  pending[place] = deadline;
  sweeper ??= setInterval(sweep, sweepMs).unref();
  return () => {
    if (pending[place] === deadline) release(place);
  };
}

function release(place: number): void {
  pending[place] = undefined;
  free.push(place);
}

function sweep(): void {
  const now = performance.now();
  for (const [place, deadline] of pending.entries()) {
    if (!deadline || now < deadline.at) continue;
    release(place);
    deadline.expire();
  }
  if (free.length < pending.length) return;
  pending.length = 0;
  free.length = 0;
  clearInterval(sweeper);
  sweeper = undefined;
}
