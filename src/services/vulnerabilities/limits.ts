/** Limits of advisories, in addition to the limits of all texts and lists. */
export const advisoryLimits = {
  /** The size of one event with its findings. */
  eventBytes: 256 * 1024,
  /** Events per advisory. */
  events: 1_000,
  /** The total size of the events of one advisory, in UTF-16 units: more than one request can contain. */
  eventsLength: 8 * 1024 * 1024,
  /** Aliases per advisory, and severities per advisory. */
  items: 1_000,
  /** Advisories that a list of statements can name. */
  namedAdvisories: 200,
  /** Records per request. */
  requestRecords: 1_000,
  /** How many records of a request are written at once, which can share a commit: on PostgreSQL, as many as one has. */
  recordsAtOnce: { local: 1_000, remote: 32 },
  /** The protobuf size of one record. Records of large vendors have 3 MiB; a request may have 4. */
  recordBytes: 3.5 * 1024 * 1024,
  /** Statements per record. */
  statements: 5_000,
  /** The total size of source, document and vulnerability of a record: an index entry of PostgreSQL has less than 2704 bytes. */
  recordKeyBytes: 1_500,
  /** The size of the identity of a product. */
  productBytes: 1_500,
  /** Records per advisory, and their total size in UTF-16 units. */
  records: 1_000,
  recordsLength: 64 * 1024 * 1024,
  /** Advisories that one facet counts, and its values. */
  countedRows: 10_000,
  facetValues: 20,
  /** How many results a search may skip in an order that has no index: all that are skipped are sorted. */
  sortedSkip: 10_000,
  /** Limits of one package query or batch. The rest goes to the next page. */
  search: {
    /** Key lookups, counted per visible subtree. */
    lookUps: 20_000,
    /** Advisories read with their records. */
    advisories: 5_000,
    /** The total size of the results, in UTF-16 units: a response is written at once, while others wait. */
    length: 1_000_000,
    /** The duration: a third of the deadline of a method. */
    milliseconds: 10_000,
  },
} as const;
