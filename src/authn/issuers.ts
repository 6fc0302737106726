// The keys of the issuers that identities name: discovered, checked and cached (security cases J1 to J9).
import type { KeyObject } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { Clock } from "../base/clock.ts";
import { isLoopbackUrl } from "./addresses.ts";
import { type FetchSlotsLimits, newFetchSlots } from "./fetch-limiter.ts";
import { type FetchJson, fetchKeys } from "./issuer-documents.ts";
import { checkIssuer } from "./issuer-url.ts";
import { type KeySet, type OutsideKey, selectKeys } from "./key-sets.ts";
import { OutboundError } from "./outbound-error.ts";
import { retryDelayMs } from "./retry-delay.ts";

/** How long and how many. Times are in milliseconds. */
export interface IssuersLimits extends FetchSlotsLimits {
  /** Keys older than this are fetched anew before they are used. */
  readonly refreshAfterMs: number;
  /** While an issuer is down, its keys serve until they are this old (security case J9). */
  readonly lifetimeMs: number;
  /** Within it, tokens of unknown kids cause one fetch, and so do tokens that no key has signed, unless it brings keys for them. */
  readonly cooldownMs: number;
  /** How many issuers with keys are kept; the least recently used one makes room. */
  readonly maxIssuers: number;
  /** As many are kept of those that have shown none: anybody can name such, and they must drive out no other. */
  readonly maxUnknownIssuers: number;
}

/** The limits that hold unless others are given; those of fetches, once for issuers with keys and once for unknown ones. */
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

/** What finding keys rests on. */
export interface IssuersOptions {
  readonly fetchJson: FetchJson;
  readonly clock: Clock;
  /** Whether issuers on loopback may use plain http. */
  readonly allowInsecureIssuers: boolean;
  readonly limits?: IssuersLimits;
}

/** Finds the keys of issuers. Whether an issuer may be asked at all is the caller's to decide, before it calls. */
export interface Issuers {
  /**
   * The keys of an issuer, fetched at most once at a time.
   *
   * This and the set's `find` and `findNewer` reject with an OutboundError: refused where the issuer or its documents break a rule,
   * unavailable or untrusted where it does not answer and no keys are cached.
   */
  keysFor(issuer: string): Promise<KeySet>;
}

interface Entry {
  readonly issuer: string;
  keys: readonly OutsideKey[] | undefined;
  fetchedAt: number;
  /** The last fetch, if it failed, and how many have failed since the last good one. */
  failure: OutboundError | undefined;
  failures: number;
  retryAt: number;
  /** When a token that no key verified last caused a fetch: one of a kid that no key has, or of a signature that no key made. */
  readonly askedAt: { unknownKid: number; badSignature: number };
  fetching: Promise<void> | undefined;
}

/** Makes a finder of keys with an empty cache. */
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
    // It rejects when nobody was asked: too many others are, and anybody can have them asked.
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

  /** `isNew` says that the keys were fetched for this token, so that fetching them again cannot help it. */
  function keySet(entry: Entry, isNew: boolean): KeySet {
    let seen = entry.keys ?? [];
    return {
      async find(hint) {
        const found = selectKeys(seen, hint);
        if (found.length > 0) return found;
        await lookAgain(entry, "unknownKid");
        seen = entry.keys ?? [];
        return selectKeys(seen, hint);
      },
      async findNewer(hint) {
        const tried = selectKeys(seen, hint);
        const { badSignature: askedAt } = entry.askedAt;
        // Another token may have had them fetched since.
        if (seen === entry.keys && !isNew) await lookAgain(entry, "badSignature");
        seen = entry.keys ?? [];
        const newer = withoutKeys(selectKeys(seen, hint), tried);
        // An issuer that has replaced its keys may do so again at once; only fetches that bring no new key are limited.
        if (newer.length > 0) entry.askedAt.badSignature = askedAt;
        return newer;
      },
    };
  }

  /** Fetches the keys for a token that none of them verifies, unless that was done lately (security case T12). */
  async function lookAgain(entry: Entry, why: keyof Entry["askedAt"]): Promise<void> {
    const before = entry.askedAt[why];
    const mayAsk = entry.failure ? clock() >= entry.retryAt : !isYounger(before, limits.cooldownMs);
    if (mayAsk) entry.askedAt[why] = clock();
    if (mayAsk || entry.fetching) {
      await refresh(entry).catch((error: unknown) => {
        // Nobody was asked: too many others are.
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

/** Whom a request to the issuer is a burden to: all ports of a host, but on this machine each is another program. */
function hostOf(issuer: string): string {
  const url = new URL(issuer);
  return isLoopbackUrl(url) ? url.host : url.hostname;
}

/** Whether the issuer has shown keys: not every one that is named does. */
function isKnown({ keys }: Entry): boolean {
  return keys !== undefined && keys.length > 0;
}

/**
 * Fetches the keys of an entry, or joins the fetch that is under way; the outcome is written into the entry, and `keep` is
 * called with it. Unknown issuers take no places from known ones.
 */
function refresher({ fetchJson, clock }: IssuersOptions, limits: IssuersLimits, keep: (entry: Entry) => void) {
  const [knownSlots, unknownSlots] = [newFetchSlots(limits), newFetchSlots(limits)];

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
      // An issuer that answers with something else has withdrawn its keys.
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
