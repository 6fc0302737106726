// The expiry of static keys.

/** The maximum age of an identity with static keys, in milliseconds. */
export const maxStaticKeysAge = 365 * 24 * 60 * 60 * 1000;

/**
 * Returns when the keys expire: at the requested time, if any, within the maximum age. All times are milliseconds since
 * the epoch.
 */
export function staticKeysExpiry(asked: number | undefined, createTime: number): number {
  return Math.min(asked ?? Number.POSITIVE_INFINITY, createTime + maxStaticKeysAge);
}
