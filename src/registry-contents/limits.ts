/** Limits of reading SBOMs from a registry. Times are in milliseconds. */
export const readingLimits = {
  /** The time to read one document. */
  documentMs: 60_000,
  /** The wait after a failed attempt, which doubles from the first to the last. */
  firstRetryMs: 60_000,
  lastRetryMs: 6 * 60 * 60 * 1000,
  /** Attempts until an image counts as failed, until it is queued again. */
  attempts: 10,
  /** The time to read one document for a response. */
  responseMs: 15_000,
  /** Responses that are read from the registry at a time: of all organizations, and of one. */
  reads: 16,
  readsOfOrganization: 4,
  /** The retry delay that clients are told when there are more. */
  retryMs: 1_000,
  /** The size of the cached configurations of images. */
  configurationBytes: 32 * 1024 * 1024,
} as const;
