// The cache entries of issuers. Issuers without keys have a cache of their own, because anyone can name them.
import { LRUCache } from "lru-cache";
import type { OutboundError } from "../outbound/error.ts";
import type { OutsideKey } from "./key-sets.ts";

/** The cached keys and the state of one issuer. Times are in milliseconds since the epoch. */
export interface IssuerEntry {
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

/** Creates empty caches of at most so many issuers. */
export function newIssuerEntries(limits: { readonly maxIssuers: number; readonly maxUnknownIssuers: number }) {
  const known = new LRUCache<string, IssuerEntry>({ max: limits.maxIssuers });
  const unknown = new LRUCache<string, IssuerEntry>({ max: limits.maxUnknownIssuers });

  /** Stores an entry in the cache that its keys decide. */
  function keep(entry: IssuerEntry): void {
    const [place, other] = isKnown(entry) ? [known, unknown] : [unknown, known];
    place.set(entry.issuer, entry);
    other.delete(entry.issuer);
  }

  return {
    keep,
    /** Returns the entry of an issuer, and stores an empty one if there is none. */
    find(issuer: string): IssuerEntry {
      const entry = known.get(issuer) ?? unknown.get(issuer) ?? newEntry(issuer);
      keep(entry);
      return entry;
    },
  };
}

/** Reports whether the issuer has ever published keys. */
export function isKnown({ keys }: IssuerEntry): boolean {
  return keys !== undefined && keys.length > 0;
}

function newEntry(issuer: string): IssuerEntry {
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
