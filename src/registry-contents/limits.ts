/** Limits of reading SBOMs from a registry. Times are in milliseconds. */
export const readingLimits = {
  /** The time to read one document. */
  documentMs: 60_000,
  /** The wait after a failed attempt, which doubles from the first to the last. */
  firstRetryMs: 60_000,
  lastRetryMs: 6 * 60 * 60 * 1000,
  /** Attempts until an image counts as failed, until it is queued again. */
  attempts: 10,
} as const;
