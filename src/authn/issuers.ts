// Discovers, checks and caches the keys of the issuers that identities name (security cases J1 to J9).
import type { KeyObject } from "node:crypto";
import { LRUCache } from "lru-cache";
import { isLoopbackUrl } from "../base/address-ranges.ts";
import type { Clock } from "../base/clock.ts";
import { checkIssuer } from "../model/issuer-url.ts";
import { type FetchLimits, newFetchLimiter } from "./fetch-limiter.ts";
import { type FetchJson, fetchKeys } from "./issuer-documents.ts";
import { type KeySet, type OutsideKey, selectKeys } from "./key-sets.ts";
import { OutboundError } from "./outbound-error.ts";
import { retryDelayMs } from "./retry-delay.ts";

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

interface Entry {
  readonly issuer: string;
  keys: readonly OutsideKey[] | undefined;
  fetchedAt: number;
  /** The error of the last fetch if it failed, and the number of failures in a row. */
  failure: OutboundError | undefined;
  failures: number;
  retryAt: number;
  /** When a token last caused a fetch because of an unknown key id, or because no key verified its signature. */
  readonly askedAt: { unknownKid: number; badSignature: number };
  fetching: Promise<void> | undefined;
}

/** Creates a key finder with an empty cache. */
export function openIssuers(options: IssuersOptions): Issuers {
  const { clock, limits = defaultIssuersLimits } = options;
  const known = new LRUCache<string, Entry>({ max: limits.maxIssuers });
  const unknown = new LRUCache<string, Entry>({ max: limits.maxUnknownIssuers });
  const refresh = refresher(options, limits, keep);
  const isYounger = (since: number, age: number) => clock() - since < age;

  async function keysFor(issuer: string): Promise<KeySet> {
    const problem = checkIssuer(issuer, options.allowInsecureIssuers);
    if (problem !== undefined) throw new OutboundError("refused", `the issuer ${problem}`);
    const entry = known.get(issuer) ?? unknown.get(issuer) ?? newEntry(issuer);
    keep(entry);
    const isDue = !isFresh(entry) && clock() >= entry.retryAt;
    // `refresh` rejects if too many fetches are running, which anyone can cause.
    const busy = isDue ? await refresh(entry).catch((error: unknown) => error) : undefined;
    if (entry.keys && isYounger(entry.fetchedAt, limits.lifetimeMs)) return keySet(entry, isDue && busy === undefined);
    throw busy ?? entry.failure ?? new OutboundError("unavailable", "the keys of the issuer are out of date");
  }

  function keep(entry: Entry): void {
    const [place, other] = isKnown(entry) ? [known, unknown] : [unknown, known];
    place.set(entry.issuer, entry);
    other.delete(entry.issuer);
  }

  function isFresh({ keys, fetchedAt }: Entry): boolean {
    return keys !== undefined && isYounger(fetchedAt, limits.refreshAfterMs);
  }

  /** `isNew` means that the keys were fetched for this token, so another fetch cannot help. */
  function keySet(entry: Entry, isNew: boolean): KeySet {
    let seen = entry.keys ?? [];
    return {
      async find(hint) {
        const found = selectKeys(seen, hint);
        if (found.length > 0) return found;
        await refetchKeys(entry, "unknownKid");
        seen = entry.keys ?? [];
        return selectKeys(seen, hint);
      },
      async findNewer(hint) {
        const tried = selectKeys(seen, hint);
        const { badSignature: askedAt } = entry.askedAt;
        // Another token may have caused a fetch in the meantime.
        if (seen === entry.keys && !isNew) await refetchKeys(entry, "badSignature");
        seen = entry.keys ?? [];
        const newer = withoutKeys(selectKeys(seen, hint), tried);
        // An issuer that rotated its keys may do so again at once: only fetches that bring no new key are limited.
        if (newer.length > 0) entry.askedAt.badSignature = askedAt;
        return newer;
      },
    };
  }

  /** Fetches the keys again for a token that none of them verifies, at most once per cooldown (security case T12). */
  async function refetchKeys(entry: Entry, why: keyof Entry["askedAt"]): Promise<void> {
    const before = entry.askedAt[why];
    const mayAsk = entry.failure ? clock() >= entry.retryAt : !isYounger(before, limits.cooldownMs);
    if (mayAsk) entry.askedAt[why] = clock();
    if (mayAsk || entry.fetching) {
      await refresh(entry).catch((error: unknown) => {
        // No fetch happened because too many are running.
        entry.askedAt[why] = before;
        throw error;
      });
    }
    if (entry.failure) throw entry.failure;
  }

  return { keysFor };
}

function newEntry(issuer: string): Entry {
  const never = Number.NEGATIVE_INFINITY;
  return {
    issuer,
    keys: undefined,
    fetchedAt: never,
    failure: undefined,
    failures: 0,
    retryAt: never,
    askedAt: { unknownKid: never, badSignature: never },
    fetching: undefined,
  };
}

function withoutKeys(keys: readonly KeyObject[], others: readonly KeyObject[]): KeyObject[] {
  return keys.filter((key) => !others.some((other) => other.equals(key)));
}

/**
 * Returns the host that a fetch burdens: all ports of a host count together, except on loopback, where each port is
 * another program.
 */
function hostOf(issuer: string): string {
  const url = new URL(issuer);
  return isLoopbackUrl(url) ? url.host : url.hostname;
}

/** Reports whether the issuer has ever published keys. */
function isKnown({ keys }: Entry): boolean {
  return keys !== undefined && keys.length > 0;
}

/**
 * Returns a function that fetches the keys of an entry, or joins the running fetch, stores the outcome in the entry and
 * calls `keep`. Unknown issuers do not use the fetch slots of known ones.
 */
function refresher({ fetchJson, clock }: IssuersOptions, limits: IssuersLimits, keep: (entry: Entry) => void) {
  const [knownSlots, unknownSlots] = [newFetchLimiter(limits), newFetchLimiter(limits)];

  async function refresh(entry: Entry): Promise<void> {
    try {
      entry.keys = await fetchKeys(entry.issuer, fetchJson);
      entry.fetchedAt = clock();
      entry.failure = undefined;
      entry.failures = 0;
      entry.retryAt = Number.NEGATIVE_INFINITY;
    } catch (error) {
      if (!(error instanceof OutboundError)) throw error;
      entry.failure = error;
      entry.retryAt = clock() + retryDelayMs(++entry.failures);
      // An issuer that publishes an invalid document has withdrawn its keys.
      if (error.failure === "refused") entry.keys = undefined;
    }
    keep(entry);
  }

  return (entry: Entry): Promise<void> => {
    const slots = isKnown(entry) ? knownSlots : unknownSlots;
    entry.fetching ??= slots
      .run(hostOf(entry.issuer), () => refresh(entry))
      .finally(() => {
        entry.fetching = undefined;
      });
    return entry.fetching;
  };
}
