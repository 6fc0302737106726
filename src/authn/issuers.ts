// The keys of the issuers that identities name: discovered, checked, kept for a while (security cases J1 to J9).
import { LRUCache } from "lru-cache";
import type { Clock } from "../clock.ts";
import { type FetchSlotsLimits, newFetchSlots } from "./fetch-slots.ts";
import { type KeySet, type OutsideKey, parseKeySet, selectKeys } from "./key-sets.ts";
import { isLoopbackUrl, OutboundError } from "./outbound.ts";

/** How long and how many. Times are in milliseconds. */
export interface IssuersLimits extends FetchSlotsLimits {
  /** Keys older than this are fetched anew before they are used. */
  readonly refreshAfterMs: number;
  /** While an issuer is down, its keys serve until they are this old (security case J9). */
  readonly lifetimeMs: number;
  /** A failure is remembered this long, and unknown kids cause one fetch within it. */
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
  /** Fetches a JSON document under the rules of outbound.ts. */
  readonly fetchJson: (url: string) => Promise<unknown>;
  readonly clock: Clock;
  /** Whether issuers on loopback may use plain http. */
  readonly allowInsecureIssuers: boolean;
  readonly limits?: IssuersLimits;
}

/** Finds the keys of issuers. Whether an issuer may be asked at all is the caller's to decide, before it calls. */
export interface Issuers {
  /**
   * The keys of an issuer, fetched at most once at a time; a kid that they lack has them fetched once more.
   *
   * This and the set's `find` reject with an OutboundError: refused where the issuer or its documents break a rule,
   * unavailable where it does not answer and no keys are in store.
   */
  keysFor(issuer: string): Promise<KeySet>;
}

interface Entry {
  readonly issuer: string;
  keys: readonly OutsideKey[] | undefined;
  fetchedAt: number;
  failure: OutboundError | undefined;
  failedAt: number;
  /** When an unknown kid last caused a fetch. */
  lookedAt: number;
  fetching: Promise<void> | undefined;
}

/** Makes a finder of keys with an empty store. */
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
    const isDue = !isFresh(entry) && !isYounger(entry.failedAt, limits.cooldownMs);
    // It rejects when nobody was asked: too many others are, and anybody can have them asked.
    const busy = isDue ? await refresh(entry).catch((error: unknown) => error) : undefined;
    if (entry.keys && isYounger(entry.fetchedAt, limits.lifetimeMs)) return keySet(entry);
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

  function keySet(entry: Entry): KeySet {
    return {
      async find(hint) {
        const found = selectKeys(entry.keys ?? [], hint);
        if (found.length > 0) return found;
        // A key may be newer than the store; random kids must not make us ask more often (security case T12).
        if (entry.fetching) await entry.fetching;
        else if (isYounger(entry.lookedAt, limits.cooldownMs)) return found;
        else await lookAgain(entry);
        if (entry.failure) throw entry.failure;
        return selectKeys(entry.keys ?? [], hint);
      },
    };
  }

  async function lookAgain(entry: Entry): Promise<void> {
    const before = entry.lookedAt;
    entry.lookedAt = clock();
    try {
      await refresh(entry);
    } catch (error) {
      // Nobody was asked: too many others are.
      entry.lookedAt = before;
      throw error;
    }
  }

  return { keysFor };
}

/** The rule that an issuer's URL breaks, as words that follow its name; undefined for a good one (security case J7). */
export function checkIssuer(issuer: string, allowInsecure: boolean): string | undefined {
  // Printable ASCII without the backslash, which URL parsers read as a slash.
  const url = /^[\x21-\x5b\x5d-\x7e]{1,2048}$/.test(issuer) ? URL.parse(issuer) : null;
  if (!url) return "must be an https URL";
  // RFC 8414 §2. By their signs, since an empty query, fragment or user name leaves no trace in a parsed URL.
  if (issuer.includes("?")) return "must not have a query";
  if (issuer.includes("#")) return "must not have a fragment";
  const host = /^https?:\/\/([^/]*)/.exec(issuer)?.[1]?.toLowerCase() ?? "";
  if (host.includes("@")) return "must not have user information";
  const isInsecure = url.protocol === "http:" && allowInsecure && isLoopbackUrl(url);
  if (url.protocol !== "https:" && !isInsecure) return "must be an https URL";
  // An address in another spelling, such as 127.1 or 0x7f000001, would be compared as written and fetched as meant.
  if (host !== url.host && host !== `${url.host}:443`) return "must have its host in the usual spelling";
  return undefined;
}

function newEntry(issuer: string): Entry {
  const never = Number.NEGATIVE_INFINITY;
  return {
    issuer,
    keys: undefined,
    fetchedAt: never,
    failure: undefined,
    failedAt: never,
    lookedAt: never,
    fetching: undefined,
  };
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
 * told. Unknown issuers take no places from known ones.
 */
function refresher({ fetchJson, clock }: IssuersOptions, limits: IssuersLimits, keep: (entry: Entry) => void) {
  const [knownSlots, unknownSlots] = [newFetchSlots(limits), newFetchSlots(limits)];

  async function refresh(entry: Entry): Promise<void> {
    try {
      entry.keys = await discoverKeys(entry.issuer, fetchJson);
      entry.fetchedAt = clock();
      entry.failure = undefined;
    } catch (error) {
      if (!(error instanceof OutboundError)) throw error;
      entry.failure = error;
      entry.failedAt = clock();
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

/** The discovery document of an issuer (OpenID Connect Discovery 1.0 §4); rejects with an OutboundError. */
export async function fetchDiscovery(
  issuer: string,
  fetchJson: IssuersOptions["fetchJson"],
): Promise<Readonly<Record<string, unknown>>> {
  const document = await fetchJson(`${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`);
  const members = (document ?? {}) as Record<string, unknown>;
  // §4.3: exactly the issuer that was asked for.
  if (members.issuer !== issuer) throw new OutboundError("refused", "the discovery document names another issuer");
  return members;
}

/** The keys of an issuer by its discovery document. */
async function discoverKeys(issuer: string, fetchJson: IssuersOptions["fetchJson"]): Promise<OutsideKey[]> {
  const { jwks_uri: keysUrl } = await fetchDiscovery(issuer, fetchJson);
  if (typeof keysUrl !== "string") throw new OutboundError("refused", "the discovery document names no keys");
  // Plain http is for issuers on this machine; an issuer elsewhere may not send us here.
  if (!keysUrl.startsWith("https:") && !issuer.startsWith("http:")) {
    throw new OutboundError("refused", "the URL of the keys is not https");
  }
  const keys = parseKeySet(await fetchJson(keysUrl));
  if (!keys) throw new OutboundError("refused", "the keys of the issuer are not a key set of acceptable size");
  return keys;
}
