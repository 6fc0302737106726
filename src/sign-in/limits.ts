/** Limits of the sign-in. Times are in milliseconds. */
export const signInLimits = {
  /** The time in which a user must return from the login provider. */
  signInMs: 10 * 60 * 1000,
  /**
   * Sign-ins in progress, and those that one client address may start in a second. In `signInMs`, one address cannot
   * use up the places of all others.
   */
  signIns: 120_000,
  signInsPerSecond: 20,
  /** The suggested delay when all places for sign-ins are taken: some of them have probably ended by then. */
  fullRetryMs: 30_000,
  /** The bytes of an answer whether to join an organization. */
  answerBytes: 4096,
  /** The time that a token waits for a device without a browser; clients show its code that long. */
  headlessSessionMs: 15 * 60 * 1000,
  /** The time in which a sign-in can be refreshed. */
  refreshMs: 30 * 24 * 60 * 60 * 1000,
  /** The longest time of a browser session, and the time after which an unused one ends. */
  browserSessionMs: 7 * 24 * 60 * 60 * 1000,
  browserIdleMs: 24 * 60 * 60 * 1000,
  /** The time of a browser session with external group role mappings: the provider must confirm the groups again. */
  mappedSessionMs: 60 * 60 * 1000,
  /** The lifetime of the API tokens of a browser session. */
  browserTokenMs: 10 * 60 * 1000,
  /** The precision of the stored last use of a browser session, in milliseconds. */
  lastUseMs: 60 * 1000,
  /** The bytes of a request to a session endpoint. */
  sessionBodyBytes: 16 * 1024,
  /** Sign-ins of one identity that can be refreshed; another one ends the oldest. */
  refreshFamilies: 20,
} as const;
