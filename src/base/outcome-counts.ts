/** Counts how attempts ended, for metrics. */
export interface OutcomeCounts<O extends string> {
  /** Totals since the start: all outcomes, also those that have not happened. */
  readonly counts: Readonly<Record<O, number>>;
  count(outcome: O): void;
}

/** Creates the counts of these outcomes. */
export function newOutcomeCounts<O extends string>(outcomes: readonly O[]): OutcomeCounts<O> {
  const counts = Object.fromEntries(outcomes.map((outcome) => [outcome, 0])) as Record<O, number>;
  return {
    counts,
    count(outcome) {
      counts[outcome]++;
    },
  };
}
