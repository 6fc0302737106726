// Deadlines of requests. One timer looks after all of them: nearly every request is over long before its own, and to set and
// clear a timer for each costs as much as finding its route.

interface Deadline {
  /** As `performance.now` counts. */
  readonly at: number;
  readonly expire: () => void;
}

/** How much later than its time a deadline may be noticed, in milliseconds. */
const sweepMs = 50;

const pending = new Set<Deadline>();
let sweeper: NodeJS.Timeout | undefined;

/** Calls `expire` once so many milliseconds have passed, or a little later, unless the answer is called before. */
export function startDeadline(ms: number, expire: () => void): () => void {
  const deadline = { at: performance.now() + ms, expire };
  pending.add(deadline);
  sweeper ??= setInterval(sweep, sweepMs).unref();
  return () => pending.delete(deadline);
}

function sweep(): void {
  const now = performance.now();
  for (const deadline of pending) {
    if (now < deadline.at) continue;
    pending.delete(deadline);
    deadline.expire();
  }
  if (pending.size > 0) return;
  clearInterval(sweeper);
  sweeper = undefined;
}
