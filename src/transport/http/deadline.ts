// Deadlines of requests. One timer looks after all of them: nearly every request is over long before its own, and to set and
// clear a timer for each costs as much as finding its route.

/** A time by which something has to be done. */
export class Deadline {
  /** As `performance.now` counts. */
  readonly at: number;
  readonly expire: () => void;
  readonly #place: number;

  /** Calls `expire` once so many milliseconds have passed, or a little later, unless it is met before. */
  constructor(ms: number, expire: () => void) {
    this.at = performance.now() + ms;
    this.expire = expire;
    this.#place = free.pop() ?? pending.length;
    pending[this.#place] = this;
    sweeper ??= setInterval(sweep, sweepMs).unref();
  }

  /** Says that it is done. */
  meet(): void {
    if (pending[this.#place] === this) release(this.#place);
  }
}

/** How much later than its time a deadline may be noticed, in milliseconds. */
const sweepMs = 50;

// Places in a list rather than a Set. What comes and goes with every request makes a Set outgrow one table after the other, and
// V8 has each of them hold on to the next: once a full collection has moved one to the old generation, all that follow survive,
// and the requests in them, until the next full collection.
const pending: (Deadline | undefined)[] = [];
const free: number[] = [];
let sweeper: NodeJS.Timeout | undefined;

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
