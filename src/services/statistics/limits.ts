/** Limits of statistics that are not settings. */
export const statisticsLimits = {
  /** Metrics of one query. */
  metrics: 12,
  /** Days of one query, and days that are kept. */
  keptDays: 400,
  /** Sums that wait in a process until they are stored: of a metric, a group and a day each. */
  waitingSums: 100_000,
  /** The interval in which a process stores its sums. */
  storeMs: 10_000,
} as const;

/** The setting with the time at which counting began. */
export const countedSinceSetting = "statistics_since";
