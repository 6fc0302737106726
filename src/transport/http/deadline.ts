// Deadlines of requests share one timer. Nearly every request completes long before its deadline, and a timer of its own would take
// as much CPU time as finding its route.

/** A time by which work must complete. */
export class Deadline {
  /** As `performance.now` counts. */
  readonly at: number;
  readonly expire: () => void;
  readonly #place: number;

  /** Calls `expire` after `ms` milliseconds, at most `sweepMs` later, unless `meet` is called first. */
  constructor(ms: number, expire: () => void) {
    this.at = performance.now() + ms;
    this.expire = expire;
    this.#place = free.pop() ?? pending.length;
    pending[this.#place] = this;
    sweeper ??= setInterval(sweep, sweepMs).unref();
  }

  /** Cancels the deadline, because the work is complete. */
  meet(): void {
    if (pending[this.#place] === this) release(this.#place);
  }
}

/** How often deadlines are checked, in milliseconds. */
const sweepMs = 50;

// A list of slots rather than a Set. Entries that come and go with every request make V8 replace the table of a Set often, and each old
// table refers to the next: once one is in the old generation, all later ones and their requests survive until the next full collection.
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
