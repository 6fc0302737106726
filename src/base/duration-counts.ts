// Counts durations by bucket, for a histogram of the metrics. To record one takes some nanoseconds: a statement of SQLite takes
// microseconds, and prom-client's own histogram would take a third of one for each.

/** The upper limits of the buckets, in seconds. */
export const durationBounds: readonly number[] = [
  0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10,
];

/** Durations that were recorded since the start. */
export class DurationCounts {
  readonly #counts = new Float64Array(durationBounds.length + 1);
  #sum = 0;

  /** Records what began at this time of `performance.now()` and ends now. */
  recordSince(startedAt: number): void {
    const seconds = (performance.now() - startedAt) / 1000;
    this.#sum += seconds;
    let bucket = 0;
    while (bucket < durationBounds.length && seconds > durationBounds[bucket]!) bucket++;
    this.#counts[bucket]!++;
  }

  /** Returns the number of durations in each bucket alone; the last is beyond all bounds. */
  get counts(): readonly number[] {
    return [...this.#counts];
  }

  /** Returns the sum of all durations, in seconds. */
  get sum(): number {
    return this.#sum;
  }
}
