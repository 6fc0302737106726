// How long keys serve that are given with an identity.

/** How long after its creation an identity with static keys can be assumed at most, in milliseconds. */
export const maxStaticKeysAge = 365 * 24 * 60 * 60 * 1000;

/** When the keys cease to serve: at the time that was asked for, if any. All are milliseconds since the epoch. */
export function staticKeysExpiry(asked: number | undefined, createTime: number): number {
  return Math.min(asked ?? Number.POSITIVE_INFINITY, createTime + maxStaticKeysAge);
}
