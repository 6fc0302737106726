/** What is bounded about advisories, besides what is bounded about all texts and lists. */
export const advisoryLimits = {
  /** What one event says, findings included. */
  eventBytes: 256 * 1024,
  /** Events of one advisory. */
  events: 1_000,
  /** What the events of one advisory say together, in UTF-16 units: more than one request can bring. */
  eventsLength: 8 * 1024 * 1024,
  /** Sources of one advisory of which it is remembered when they had changed it; the first of them is forgotten. */
  sources: 100,
  /** Advisories of one batch of an import. */
  importItems: 200,
  /** How many advisories of a batch are written at once. */
  importAtOnce: 16,
} as const;
