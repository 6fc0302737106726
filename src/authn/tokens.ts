// Our own API tokens: JSON Web Tokens (RFC 7519) under the rules of RFC 8725.
import { resourceExhausted } from "../aip/errors.ts";
import type { Clock } from "../base/clock.ts";
import type { JsonObject } from "../base/json.ts";
import { maxBearerLength } from "./bearer.ts";
import type { VerifiedToken } from "./caller.ts";
import { type Jws, parseJws, signJws, verifyJws } from "./jws.ts";
import type { KeyRing } from "./key-ring.ts";
import type { VerificationKey } from "./signing-key.ts";
import { defaultTokenCacheLimits, type TokenCache, type TokenCacheLimits, tokenCache } from "./token-cache.ts";
import { readClaims, type TokenRequest, writeClaims } from "./token-claims.ts";
import { TokenError } from "./token-error.ts";

/** Options for issuing and verifying tokens. */
export interface TokensOptions {
  /** The `iss` of our tokens, compared byte for byte. */
  readonly issuer: string;
  /** A token must name one of these. */
  readonly audiences: readonly string[];
  /** The audiences of this service, which verifies tokens by its own keys. Tokens for others too have the algorithm that these expect. */
  readonly ownAudiences?: readonly string[];
  readonly keys: KeyRing;
  readonly clock: Clock;
  /** Defaults to `defaultTokenCacheLimits`. */
  readonly cache?: TokenCacheLimits;
}

/** A newly issued token. */
export interface IssuedToken {
  readonly token: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** Totals since the start, for metrics. */
export interface TokenCounters {
  /** Verifications answered from the cache with a valid token. */
  readonly hits: number;
  /** Verifications that missed the cache. */
  readonly misses: number;
  /** Rejected tokens, cached or not. */
  readonly rejections: number;
}

/** Issues and verifies API tokens. */
export interface Tokens {
  /**
   * Issues a token that is valid for an hour or until `notAfter`. Leaves out `cap` if it would make the token too long
   * for a header. RESOURCE_EXHAUSTED if the token is too long even without it.
   */
  issue(request: TokenRequest): Promise<IssuedToken>;
  /**
   * Verifies a token and returns its claims. Throws or rejects with a TokenError if it is not valid, and rejects with
   * UNAVAILABLE if its key must be looked up and the store does not respond.
   */
  verify(token: string): VerifiedToken | Promise<VerifiedToken>;
  /**
   * Returns the claims of a token that was verified recently and is still valid, or undefined. Costs one hash, or
   * nothing if the `connection` sent the same token before.
   */
  cached(token: string, connection?: object): VerifiedToken | undefined;
  readonly counters: TokenCounters;
  /** The number of results in the cache of verified tokens. */
  readonly cachedResults: number;
}

/**
 * The maximum length of a token that is kept per connection: with 4096 connections at most 8 MiB. Longer tokens are
 * hashed each time.
 */
const keptTokenLength = 2048;

// Many proxies limit header lines to 8 KiB: leave space for the rest of the line and the signature.
const maxPayloadLength = 7 * 1024;

/** Creates the issuer and verifier. Throws if issuer or audiences are not configured (security case T4). */
export function newTokens(options: TokensOptions): Tokens {
  if (options.issuer === "") throw new Error("issuer: must not be empty");
  if (options.audiences.length === 0) throw new Error("audiences: must name at least one");
  if (options.audiences.includes("")) throw new Error("audiences: must not be empty texts");
  const cache = tokenCache(options.cache ?? defaultTokenCacheLimits, options.clock, () => options.keys.generation);
  return {
    issue: (request) => issue(request, options),
    ...verifier(options, cache),
    get cachedResults() {
      return cache.entries;
    },
  };
}

async function issue(
  request: TokenRequest,
  { issuer, ownAudiences = [], keys, clock }: TokensOptions,
): Promise<IssuedToken> {
  const claims = writeClaims(issuer, request, clock());
  const purpose = request.audience.every((audience) => ownAudiences.includes(audience)) ? "own" : "others";
  const token = await signJws(shorten(claims), await keys.signing(purpose));
  return { token, expiresAt: claims.exp * 1000 };
}

// An identity with hundreds of bindings must still get a token, and no client depends on `cap`.
function shorten(claims: JsonObject): JsonObject {
  const { cap, ...rest } = claims;
  const shortened = [claims, rest].find(fits);
  if (!shortened) throw resourceExhausted("the token would be too long for a header: narrow it to fewer scopes");
  return shortened;
}

function fits(claims: JsonObject): boolean {
  // base64url writes three bytes as four characters.
  return (Buffer.byteLength(JSON.stringify(claims)) * 4) / 3 <= maxPayloadLength;
}

function verifier(options: TokensOptions, cache: TokenCache) {
  const { keys } = options;
  const counters = { hits: 0, misses: 0, rejections: 0 };
  const verifyUnseen = unseenVerifier(options, cache);

  function verifyNow(token: string): VerifiedToken | Promise<VerifiedToken> {
    // Before hashing: the cost must not grow with what an unauthenticated client sends (security case T9).
    if (token.length > maxBearerLength) throw new TokenError("malformed");
    const digest = cache.digest(token);
    const verdict = cache.find(digest);
    if (verdict === undefined) {
      counters.misses++;
      return verifyUnseen(token, digest);
    }
    if (typeof verdict === "string") throw new TokenError(verdict);
    counters.hits++;
    return verdict;
  }

  function count(error: unknown): never {
    if (error instanceof TokenError) counters.rejections++;
    throw error;
  }

  return {
    counters,
    cached: cachedVerdicts(keys, cache, counters),
    verify(token: string): VerifiedToken | Promise<VerifiedToken> {
      try {
        const outcome = keys.isCurrent() ? verifyNow(token) : keys.makeCurrent().then(() => verifyNow(token));
        return outcome instanceof Promise ? outcome.catch(count) : outcome;
      } catch (error) {
        return count(error);
      }
    },
  };
}

/** Returns the function that verifies a token that is not in the cache. */
function unseenVerifier({ issuer, audiences, keys, clock }: TokensOptions, cache: TokenCache) {
  const ours: ReadonlySet<string> = new Set(audiences);

  function checkSignature(jws: Jws, key: VerificationKey | undefined, digest: string): void {
    if (!key) throw new TokenError("unknown-key");
    if (verifyJws(jws, key)) return;
    // Only failed signature checks are worth caching: the other checks are cheaper than a cache entry.
    cache.reject(digest, "signature");
    throw new TokenError("signature");
  }

  // Cheap checks first: neither a key lookup nor a signature check is spent on a token that they reject.
  return (token: string, digest: string): VerifiedToken | Promise<VerifiedToken> => {
    const jws = parseJws(token);
    const verified = readClaims(jws.payload, { issuer, audiences: ours, now: clock() });
    const finish = (key: VerificationKey | undefined) => {
      checkSignature(jws, key, digest);
      cache.accept(digest, verified, Math.min(verified.expiresAt, key?.retireTime ?? Infinity), token.length);
      return verified;
    };
    const key = keys.known(jws.kid);
    return key ? finish(key) : keys.find(jws.kid).then(finish);
  };
}

function cachedVerdicts(keys: KeyRing, cache: TokenCache, counters: { hits: number }): Tokens["cached"] {
  // The token of each connection's last request. It lives no longer than the connection, whose buffers contained it as
  // well.
  const latest = new WeakMap<object, { readonly token: string; readonly digest: string }>();
  return (token, connection) => {
    if (token.length > maxBearerLength || !keys.isCurrent()) return undefined;
    const before = connection && latest.get(connection);
    const isSame = before !== undefined && before.token === token;
    const digest = isSame ? before.digest : cache.digest(token);
    const verdict = cache.find(digest);
    if (verdict === undefined || typeof verdict === "string") return undefined;
    if (connection && !isSame && token.length <= keptTokenLength) latest.set(connection, { token, digest });
    counters.hits++;
    return verdict;
  };
}
