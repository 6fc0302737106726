// Counts the listener's rejections for metrics: no call reports them.

/** The limits that are counted; see limits.ts. The names are values of a metric label. */
const limitNames = [
  "connections",
  "connections of a client",
  "control frames",
  "headers",
  "pieces",
  "pipelined requests",
  "stream resets",
  "time of a reply",
  "time of a request",
  "unread replies",
] as const;

/** The name of a limit, as the metric shows it. */
export type LimitName = (typeof limitNames)[number];

/** Counts connections, streams or requests that were rejected or ended because of a limit; one when `times` is absent. */
export type CountLimit = (limit: LimitName, times?: number) => void;

/** Totals since the start. */
export type LimitCounts = Readonly<Record<LimitName, number>>;

/** Makes the counters of one listener. */
export function newLimitCounters(): { readonly counts: LimitCounts; readonly count: CountLimit } {
  const counts = Object.fromEntries(limitNames.map((name) => [name, 0])) as Record<LimitName, number>;
  return {
    counts,
    count(limit, times = 1) {
      counts[limit] += times;
    },
  };
}
