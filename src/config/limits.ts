// The bounds that are not for the operator to set. Those of the listener are in transport/listener/limits.ts, those of the database in
// storage/engine/dialect.ts.

/** Times are milliseconds. */
export const limits = {
  bodyBytes: 4 * 1024 * 1024,
  bodyTimeoutMs: 30_000,
  requestTimeoutMs: 30_000,
  /** The longest deadline that a gRPC client may set: what a timer can hold. */
  deadlineMs: 2 ** 31 - 1,
  jsonDepth: 100,
  groupDepth: 32,
  /** Refused tokens of one address within a second; after that it is answered RESOURCE_EXHAUSTED for the rest of it. */
  badTokensPerSecond: 100,
  /** Addresses whose refused tokens are counted. */
  badTokenSources: 10_000,
  /** Identity providers that are asked at the same time what they can do. */
  discoveries: 16,
  keyRefreshCooldownMs: 1_000,
  /**
   * How long a signature, an unknown kid or the next look for keys waits for a database that says nothing: answers of one that
   * is well take milliseconds, and to give up a silent connection takes longer than clients wait.
   */
  keyPatienceMs: 2_000,
  /** How often a node looks for keys that another one rotated. */
  keyRefreshMs: 500,
  /**
   * How long before a call the keys may have been read by which its token is verified: a leaked key that is retired is refused
   * everywhere as soon as a revoked binding is, however late the database answers.
   */
  keyMaxAgeMs: 1_000,
  /** How long the registry is waited for while it waits for the answer to a notification: it gives up after a second. */
  notificationFetchMs: 900,
  /** How long a notification is remembered: for longer than a registry repeats one. */
  notificationMemoryMs: 7 * 24 * 60 * 60 * 1000,
  /** Of a manifest or the configuration of an image. */
  manifestBytes: 4 * 1024 * 1024,
  /** How long an event is kept at most: a day longer than it is tried to deliver it. */
  eventMemoryMs: 4 * 24 * 60 * 60 * 1000,
  /** How long a replaced key goes on verifying: longer than any token lives. */
  keyOverlapMs: 2 * 60 * 60 * 1000,
  /** How long a browser may stay away at a login provider. */
  signInMs: 10 * 60 * 1000,
  /**
   * Browsers that may be away at login providers at a time, and those that one address may send there in a second: too few
   * to fill the places of everybody in the time that a browser may stay away.
   */
  signIns: 120_000,
  signInsPerSecond: 20,
  /** How long a token waits for a device without a browser; clients show its code that long. */
  headlessSessionMs: 15 * 60 * 1000,
  /** How long a sign-in can be refreshed before the person has to sign in anew. */
  refreshMs: 30 * 24 * 60 * 60 * 1000,
  /** Sign-ins of one identity that can be refreshed; the oldest gives way. */
  refreshFamilies: 20,
  /**
   * How long a signing key is kept after it has retired. Nothing that it signed is valid since then; the clocks of the nodes
   * may differ, and `keys list` shows it for a while.
   */
  retiredKeyMemoryMs: 24 * 60 * 60 * 1000,
  /**
   * Entries about access (sign-ins, exchanges, denials) that a minute may add to the audit log: of one caller in an organization, of one
   * organization, and of all; beyond that each still has its equal part. At some 500 bytes each, 30 days of an attack by five
   * organizations are 13 GB for each server, and by however many 65 GB. Entries that say how many were omitted have a share as
   * large as that of all.
   */
  accessEntriesOfCaller: 20,
  accessEntriesOfOrganization: 60,
  accessEntries: 300,
  /** Entries about access that wait for a database that does not answer. */
  waitingAccessEntries: 5_000,
  accessFlushMs: 250,
  /** Exports of advisories that are sent at once, of all organizations and of one. */
  exports: 8,
  exportsOfOrganization: 4,
  /** The same of exports in formats that need all advisories in memory, and how many advisories those may have. */
  gatheredExports: 2,
  gatheredAdvisories: 50_000,
  /** How long a client may take nothing of a stream. */
  streamStallMs: 60_000,
  /** How often what has expired is removed. */
  sweepMs: 60_000,
} as const;
