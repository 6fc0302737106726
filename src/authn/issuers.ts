// Discovers, checks and caches the keys of the issuers that identities name (security cases J1 to J9).
import type { KeyObject } from "node:crypto";
import type { Clock } from "../base/clock.ts";
import { checkIssuer } from "../model/issuer-url.ts";
import { OutboundError } from "../outbound/error.ts";
import type { FetchLimits } from "./fetch-limiter.ts";
import type { FetchJson } from "./issuer-documents.ts";
import { type IssuerEntry, newIssuerEntries } from "./issuer-entries.ts";
import { refetcher, refresher } from "./issuer-refresh.ts";
import { type KeySet, selectKeys } from "./key-sets.ts";

/** Limits of the key cache. Times are in milliseconds. */
export interface IssuersLimits extends FetchLimits {
  /** Keys older than this are fetched again before use. */
  readonly refreshAfterMs: number;
  /** While an issuer is unreachable, its cached keys stay valid until they are this old (security case J9). */
  readonly lifetimeMs: number;
  /**
   * The minimum interval between fetches for unknown key ids, and between fetches for signatures that no key verifies.
   * It does not apply if the last fetch brought new keys for the token.
   */
  readonly cooldownMs: number;
  /** The number of issuers with keys in the cache; the least recently used one is evicted. */
  readonly maxIssuers: number;
  /**
   * The number of issuers without keys in the cache. They are separate because anyone can name such issuers, and they
   * must not evict others.
   */
  readonly maxUnknownIssuers: number;
}

/** The default limits. The fetch limits apply once to issuers with keys and once to issuers without. */
export const defaultIssuersLimits: IssuersLimits = {
  refreshAfterMs: 10 * 60_000,
  lifetimeMs: 60 * 60_000,
  cooldownMs: 30_000,
  maxIssuers: 256,
  maxUnknownIssuers: 256,
  maxFetches: 32,
  maxFetchesOfHost: 2,
  maxWaitingOfHost: 8,
};

/** Options of the key finder. */
export interface IssuersOptions {
  readonly fetchJson: FetchJson;
  readonly clock: Clock;
  /** Whether issuers on loopback may use plain http. */
  readonly allowInsecureIssuers: boolean;
  readonly limits?: IssuersLimits;
}

/** Finds the keys of issuers. The caller decides whether an issuer may be contacted at all, before it calls. */
export interface Issuers {
  /**
   * Returns the keys of an issuer. Concurrent callers share one fetch.
   *
   * This and the `find` and `findNewer` of the set reject with an OutboundError: refused if the issuer or its documents
   * break a rule; unavailable or untrusted if it does not respond and no keys are cached.
   */
  keysFor(issuer: string): Promise<KeySet>;
}

/** Creates a key finder with an empty cache. */
export function openIssuers(options: IssuersOptions): Issuers {
  const { clock, limits = defaultIssuersLimits } = options;
  const entries = newIssuerEntries(limits);
  const refresh = refresher(options, limits, entries.keep);
  const refetch = refetcher(refresh, clock, limits.cooldownMs);
  const isYounger = (since: number, age: number) => clock() - since < age;
  const isFresh = ({ keys, fetchedAt }: IssuerEntry) =>
    keys !== undefined && isYounger(fetchedAt, limits.refreshAfterMs);

  return {
    async keysFor(issuer) {
      const problem = checkIssuer(issuer, options.allowInsecureIssuers);
      if (problem !== undefined) throw new OutboundError("refused", `the issuer ${problem}`);
      const entry = entries.find(issuer);
      const isDue = !isFresh(entry) && clock() >= entry.retryAt;
      // `refresh` rejects if too many fetches are running, which anyone can cause.
      const busy = isDue ? await refresh(entry).catch((error: unknown) => error) : undefined;
      const isValid = entry.keys !== undefined && isYounger(entry.fetchedAt, limits.lifetimeMs);
      if (isValid) return keySet(entry, isDue && busy === undefined, refetch);
      throw busy ?? entry.failure ?? new OutboundError("unavailable", "the keys of the issuer are out of date");
    },
  };
}

/** `isNew` means that the keys were fetched for this token, so another fetch cannot help. */
function keySet(entry: IssuerEntry, isNew: boolean, refetch: ReturnType<typeof refetcher>): KeySet {
  let seen = entry.keys ?? [];
  return {
    async find(hint) {
      const found = selectKeys(seen, hint);
      if (found.length > 0) return found;
      await refetch(entry, "unknownKid");
      seen = entry.keys ?? [];
      return selectKeys(seen, hint);
    },
    async findNewer(hint) {
      const tried = selectKeys(seen, hint);
      const { badSignature: askedAt } = entry.askedAt;
      // Another token may have caused a fetch in the meantime.
      if (seen === entry.keys && !isNew) await refetch(entry, "badSignature");
      seen = entry.keys ?? [];
      const newer = withoutKeys(selectKeys(seen, hint), tried);
      // An issuer that rotated its keys may do so again at once: only fetches that bring no new key are limited.
      if (newer.length > 0) entry.askedAt.badSignature = askedAt;
      return newer;
    },
  };
}

function withoutKeys(keys: readonly KeyObject[], others: readonly KeyObject[]): KeyObject[] {
  return keys.filter((key) => !others.some((other) => other.equals(key)));
}
