/** What is bounded about advisories, besides what is bounded about all texts and lists. */
export const advisoryLimits = {
  /** What one event says, findings included. */
  eventBytes: 256 * 1024,
  /** Events of one advisory. */
  events: 1_000,
  /** What the events of one advisory say together, in UTF-16 units: more than one request can bring. */
  eventsLength: 8 * 1024 * 1024,
  /** Aliases of an advisory, and severities. */
  items: 1_000,
  /** Records of one request. */
  requestRecords: 1_000,
  /** How many records of a request are written at once: on SQLite they share a commit, on PostgreSQL each takes a connection. */
  recordsAtOnce: { sqlite: 1_000, postgres: 4 },
  /** What one record says, in bytes of protobuf: records of large vendors have 3 MiB, and a request takes 4. */
  recordBytes: 3.5 * 1024 * 1024,
  /** Statements of one record. */
  statements: 5_000,
  /** Source, document and vulnerability of a record together, in bytes: an index entry of PostgreSQL holds less than 2704. */
  recordKeyBytes: 1_500,
  /** The identity of a product, in bytes. */
  productBytes: 1_500,
  /** Records that speak of one advisory, and what they say together, in UTF-16 units. */
  records: 1_000,
  recordsLength: 64 * 1024 * 1024,
  /** What one query for packages, or one batch of them, does at most; the rest is for the next page. */
  search: {
    /** Keys that are looked up, in each subtree that the caller may see. */
    lookUps: 20_000,
    /** Advisories that are read with their records. */
    advisories: 5_000,
    /** What the results add up to, in UTF-16 units: as much as a page of any list. */
    length: 4_000_000,
    /** How long it goes on: a third of what a method may take. */
    milliseconds: 10_000,
  },
} as const;
