// Caches the results of token verifications. A verification costs as much as thirty point reads, a cache hit as much as
// one hash.
import { hash } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { Clock } from "../base/clock.ts";
import { once } from "../base/lazy.ts";
import type { VerifiedToken } from "./caller.ts";
import type { TokenErrorReason } from "./token-error.ts";

/** Size and lifetime of the cache. */
export interface TokenCacheLimits {
  /** The number of valid tokens. */
  readonly entries: number;
  /** The total length of valid tokens in characters. */
  readonly characters: number;
  /** The maximum lifetime of a valid token's entry. Expiry and retirement of its key end it sooner. */
  readonly lifetimeMs: number;
  /** The number of invalid tokens. They are stored separately, so a flood of them evicts no valid one. */
  readonly rejectedEntries: number;
  readonly rejectedLifetimeMs: number;
}

/** Default limits for a server: about 20 MiB when full. */
export const defaultTokenCacheLimits: TokenCacheLimits = {
  entries: 10_000,
  characters: 8 * 1024 * 1024,
  lifetimeMs: 60_000,
  rejectedEntries: 10_000,
  rejectedLifetimeMs: 10_000,
};

/**
 * The cached result: the claims of a valid token, or the reason why a token is invalid. Never what the caller may do.
 */
export type Verdict = VerifiedToken | TokenErrorReason;

/** Caches verification results by the digest of the token. The tokens themselves are not kept. */
export interface TokenCache {
  /** Returns the cache key of a token. */
  digest(token: string): string;
  find(digest: string): Verdict | undefined;
  accept(digest: string, token: VerifiedToken, until: number, length: number): void;
  reject(digest: string, reason: TokenErrorReason): void;
  /** The number of results. */
  readonly entries: number;
}

interface Entry<V> {
  readonly verdict: V;
  /** Milliseconds since the epoch. */
  readonly until: number;
}

/**
 * Creates a cache that is cleared whenever `generation` returns another number, that is, when a key was added or
 * removed.
 */
export function tokenCache(limits: TokenCacheLimits, clock: Clock, generation: () => number): TokenCache {
  // LRUCache allocates memory for all entries up front, so create it with the first token.
  const accepted = once(
    () => new LRUCache<string, Entry<VerifiedToken>>({ max: limits.entries, maxSize: limits.characters }),
  );
  const rejected = once(() => new LRUCache<string, Entry<TokenErrorReason>>({ max: limits.rejectedEntries }));
  let current = generation();

  function forgetOtherGenerations(): void {
    if (current === generation()) return;
    current = generation();
    accepted().clear();
    rejected().clear();
  }
  return {
    get entries() {
      return accepted().size + rejected().size;
    },
    digest: (token) => hash("sha256", token, "base64url"),
    find(digest) {
      forgetOtherGenerations();
      const entry = accepted().get(digest) ?? rejected().get(digest);
      return entry && clock() < entry.until ? entry.verdict : undefined;
    },
    accept(digest, verdict, until, length) {
      forgetOtherGenerations();
      accepted().set(digest, { verdict, until: Math.min(until, clock() + limits.lifetimeMs) }, { size: length });
    },
    reject(digest, verdict) {
      forgetOtherGenerations();
      rejected().set(digest, { verdict, until: clock() + limits.rejectedLifetimeMs });
    },
  };
}
