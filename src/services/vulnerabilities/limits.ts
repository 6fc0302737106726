/** What is bounded about advisories, besides what is bounded about all texts and lists. */
export const advisoryLimits = {
  /** What one event says, findings included. */
  eventBytes: 256 * 1024,
  /** Events of one advisory. */
  events: 1_000,
  /** Advisories of one batch of an import. */
  importItems: 200,
  /** How many advisories of a batch are written at once. */
  importAtOnce: 16,
} as const;
