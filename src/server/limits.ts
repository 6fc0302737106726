/** Limits of a server that are not settings. Other folders have a limits.ts of their own. Times are in milliseconds. */
export const limits = {
  bodyBytes: 4 * 1024 * 1024,
  bodyTimeoutMs: 30_000,
  requestTimeoutMs: 30_000,
  /** The longest deadline that a gRPC client may set: the longest time of a timer. */
  deadlineMs: 2 ** 31 - 1,
  jsonDepth: 100,
  groupDepth: 32,
  /** Rejected tokens of one address in a second; the rest of that second it gets RESOURCE_EXHAUSTED. */
  badTokensPerSecond: 100,
  /** Addresses whose rejected tokens are counted. */
  badTokenSources: 10_000,
  /** Discovery documents of identity providers that are fetched at a time. */
  discoveries: 16,
  keyRefreshCooldownMs: 1_000,
  /**
   * The time that a signature, an unknown kid or a refresh of the keys waits for a database that does not respond. A
   * healthy one takes milliseconds, and giving up a silent connection takes longer than clients wait.
   */
  keyPatienceMs: 2_000,
  /** The interval in which a node looks for keys that another one rotated. */
  keyRefreshMs: 500,
  /**
   * The maximum age of the keys that verify a token. A leaked key that was retired is rejected everywhere after this
   * time, however late the database responds.
   */
  keyMaxAgeMs: 1_000,
  /** The maximum retention of an event: a day longer than its delivery is attempted. */
  eventMemoryMs: 4 * 24 * 60 * 60 * 1000,
  /** The time that a replaced key still verifies: longer than any token lives. */
  keyOverlapMs: 2 * 60 * 60 * 1000,
  /**
   * The retention of a retired signing key. It verifies nothing any more, but the clocks of nodes may differ, and
   * `keys list` shows it for a while.
   */
  retiredKeyMemoryMs: 24 * 60 * 60 * 1000,
  /**
   * Entries about access (sign-ins, exchanges, denials) that a minute may add to the audit log: of one caller in an
   * organization, of one organization, and of all. Beyond the total, each organization still has an equal share; entries
   * that count omissions have a share as large as the total. With 500 bytes each, 30 days of an attack by five
   * organizations take 13 GB for each server; by any number of organizations, 65 GB.
   */
  accessEntriesOfCaller: 20,
  accessEntriesOfOrganization: 60,
  accessEntries: 300,
  /** Entries about access that wait for a database that does not respond. */
  waitingAccessEntries: 5_000,
  /** Stored shapes of tokens: of one identity, and of one organization. A full organization has 5 MB with 254 bytes each. */
  acceptedShapesOfIdentity: 200,
  deniedShapesOfIdentity: 50,
  shapesOfOrganization: 20_000,
  /** Shapes of tokens that wait to be stored, of all organizations and of one. */
  waitingShapes: 5_000,
  waitingShapesOfOrganization: 1_000,
  accessFlushMs: 250,
  /** Identities, and grants of identities at groups, whose uses of the day a process remembers: 20 MB with three capabilities each. */
  usedIdentities: 20_000,
  usedGrants: 200_000,
  /** The intervals in which uses are stored: of capabilities that were not used before, and of others. */
  usageFreshMs: 500,
  usageRepeatedMs: 5 * 60 * 1000,
  /** The retention of last uses: longer than a list of unused access looks back. */
  usageMemoryMs: 401 * 24 * 60 * 60 * 1000,
  /**
   * Expensive calls: those of one caller run one at a time, those of the identities of one organization a few. Beyond the budget, methods of
   * our own are rejected. A thousand queries in a row that each return fifty advisories stay within it.
   */
  turnsOfOrganization: 4,
  waitingTurns: 64,
  callerBudget: { burstMs: 10_000, regainedMsPerSecond: 100 },
  organizationBudget: { burstMs: 12_000, regainedMsPerSecond: 120 },
  /** Exports of advisories that are sent at a time: of all organizations, and of one. */
  exports: 8,
  exportsOfOrganization: 4,
  /** Exports at a time in formats that need all advisories in memory, and the maximum number of advisories in one. */
  gatheredExports: 2,
  gatheredAdvisories: 50_000,
  /** The advisories of a VEX repository, whose uids are in memory, and the limits of one of its documents. */
  repositoryAdvisories: 1_000_000,
  vexDocumentBytes: 8 * 1024 * 1024,
  vexDocumentAdvisories: 20_000,
  /** The time in which the client of a stream must read something. */
  streamStallMs: 60_000,
  /** The interval in which a server that shares a database with others writes that it runs. */
  nodeIntervalMs: 15_000,
  /** The retention of a server that ended without removing its row. */
  nodeMemoryMs: 60 * 60 * 1000,
  /** The maximum age of the database size and of the delivery queue's state in metrics, and the maximum wait of a request for metrics. */
  expensiveMetrics: { maxAgeMs: 15_000, patienceMs: 1_000 },
  /** Waiting deliveries that metrics count. */
  countedDeliveries: 100_000,
  /** Waiting images, and waiting packages, that metrics count. */
  countedImages: 100_000,
  /** The interval in which expired rows are deleted. */
  sweepMs: 60_000,
  /** The interval in which a server looks for changed names, and its pause between two transactions that index them. */
  nameIndexMs: 250,
  nameIndexPauseMs: 5,
  /** The interval in which a server looks for role bindings that have ended. */
  termEndsMs: 1_000,
  /** The intervals in which a server looks for images to read, and for rows that belong to no image. */
  imageWorkMs: 250,
  imageScanMs: 60_000,
  /** Time between two checks of a login provider that cannot be used. */
  loginCheckMs: 60_000,
} as const;
