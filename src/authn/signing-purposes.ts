// Which key signs which tokens. Tokens that only this service verifies have a faster algorithm than those for others, which expect that
// of `--signing-algorithm`.
import { type KeyAlgorithm, type KeyRecord, newKey } from "./signing-key.ts";
import { tokenLifetime } from "./token-claims.ts";

/** The verifiers of a token: this service alone, or others, by our key set. */
export type SigningPurpose = "own" | "others";

/** The algorithm of tokens for this service alone: a signature takes a thirtieth of the time of RS256. */
export const ownAlgorithm: KeyAlgorithm = "ES256";

/** How long a key that signs for this service alone is valid, in milliseconds, and how long before its end it is replaced. */
export const ownKeyLifetime = { lifetimeMs: 400 * 86_400_000, renewalMs: 30 * 86_400_000 };

/** The stored properties of a key that its purposes depend on. Times are in milliseconds since the epoch. */
interface StoredKey {
  readonly kid: string;
  readonly algorithm: string;
  readonly createTime: number;
  readonly retireTime: number | null | undefined;
}

/** Returns new keys for both purposes: one of the algorithm and, unless that is `ownAlgorithm`, one for this service alone. */
export async function newSigningKeys(algorithm: KeyAlgorithm, now: number): Promise<[KeyRecord, ...KeyRecord[]]> {
  const key = await newKey(algorithm, now);
  return algorithm === ownAlgorithm ? [key] : [key, await newOwnKey(now)];
}

/** Returns a new key that signs tokens for this service alone. */
export async function newOwnKey(now: number): Promise<KeyRecord> {
  return { ...(await newKey(ownAlgorithm, now)), retireTime: now + ownKeyLifetime.lifetimeMs };
}

/** Reports whether a key does not verify tokens any more. */
export function isRetired({ retireTime }: Pick<StoredKey, "retireTime">, now: number): boolean {
  return now >= (retireTime ?? Infinity);
}

/** Returns the keys that are not retired, the newest first. */
export function newestInForce<K extends StoredKey>(keys: readonly K[], now: number): K[] {
  // The key id breaks ties between keys of the same millisecond, so all nodes choose the same key.
  return keys
    .filter((key) => !isRetired(key, now))
    .sort((a, b) => b.createTime - a.createTime || (a.kid < b.kid ? -1 : 1));
}

/**
 * Returns the key that signs tokens for a purpose, of keys in force, the newest first. Undefined if there is none.
 *
 * Tokens for others are signed by a key without a retire time. A key of `ownAlgorithm` with one, which other releases
 * verify with but never sign with, signs tokens for this service as long as they end before it.
 */
export function selectSigning<K extends StoredKey>(
  keys: readonly K[],
  purpose: SigningPurpose,
  now: number,
): K | undefined {
  const lastExpiry = now + 1000 * tokenLifetime;
  const own = keys.find((key) => key.algorithm === ownAlgorithm && !isRetired(key, lastExpiry));
  return purpose === "own" && own ? own : keys.find(({ retireTime }) => (retireTime ?? undefined) === undefined);
}

/** Returns a function that returns which tokens a key signs at a time, of all the keys of an installation. */
export function signingPurposes(keys: readonly StoredKey[], now: number): (kid: string) => SigningPurpose[] {
  const inForce = newestInForce(keys, now);
  const signing = (["own", "others"] as const).map((purpose) => ({
    purpose,
    kid: selectSigning(inForce, purpose, now)?.kid,
  }));
  return (kid) => signing.filter((key) => key.kid === kid).map(({ purpose }) => purpose);
}
