// Verdicts on tokens already seen. A verification costs as much as thirty point reads, a hit as much as one hash.
import { hash } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { Clock } from "../base/clock.ts";
import { once } from "../base/lazy.ts";
import type { VerifiedToken } from "./caller.ts";
import type { TokenErrorReason } from "./token-error.ts";

/** How much the cache may hold, and for how long. */
export interface TokenCacheLimits {
  /** Tokens found good. */
  readonly entries: number;
  /** The tokens found good, in characters of the tokens. */
  readonly characters: number;
  /** The longest a token found good is held; its expiry and its key's retirement end it sooner. */
  readonly lifetimeMs: number;
  /** Tokens found bad, held apart, so that a flood of them drives out no good one. */
  readonly rejectedEntries: number;
  readonly rejectedLifetimeMs: number;
}

/** Limits that suit a server: about 20 MiB when full. */
export const defaultTokenCacheLimits: TokenCacheLimits = {
  entries: 10_000,
  characters: 8 * 1024 * 1024,
  lifetimeMs: 60_000,
  rejectedEntries: 10_000,
  rejectedLifetimeMs: 10_000,
};

/** What is remembered of a token: the claims of a good one, the reason against a bad one. Never what may be done with it. */
export type Verdict = VerifiedToken | TokenErrorReason;

/** Remembers verdicts by the digest of the token; the tokens themselves are not kept. */
export interface TokenCache {
  /** The name of a token in the cache. */
  digest(token: string): string;
  find(digest: string): Verdict | undefined;
  accept(digest: string, token: VerifiedToken, until: number, length: number): void;
  reject(digest: string, reason: TokenErrorReason): void;
}

interface Entry<V> {
  readonly verdict: V;
  /** Milliseconds since the epoch. */
  readonly until: number;
}

/** Makes a cache that forgets everything whenever `generation` answers another number: a key came or went. */
export function tokenCache(limits: TokenCacheLimits, clock: Clock, generation: () => number): TokenCache {
  // The memory for so many entries is taken at once: by the first token.
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
