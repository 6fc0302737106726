// Our own API tokens: JSON Web Tokens (RFC 7519) that are held to RFC 8725.
import { resourceExhausted } from "../aip/errors.ts";
import type { Clock } from "../base/clock.ts";
import type { JsonObject } from "../base/json.ts";
import { maxBearerLength } from "./bearer.ts";
import type { VerifiedToken } from "./caller.ts";
import { type Jws, parseJws, signJws, verifyJws } from "./jws.ts";
import type { KeyRing } from "./key-ring.ts";
import type { VerificationKey } from "./signing-key.ts";
import { defaultTokenCacheLimits, type TokenCacheLimits, tokenCache } from "./token-cache.ts";
import { readClaims, type TokenRequest, writeClaims } from "./token-claims.ts";
import { TokenError } from "./token-error.ts";

/** What issuing and verifying rest on. */
export interface TokensOptions {
  /** The `iss` of our tokens, compared byte for byte. */
  readonly issuer: string;
  /** A token is accepted when it names one of these. */
  readonly audiences: readonly string[];
  readonly keys: KeyRing;
  readonly clock: Clock;
  /** `defaultTokenCacheLimits` when absent. */
  readonly cache?: TokenCacheLimits;
}

/** A token as it is handed out. */
export interface IssuedToken {
  readonly token: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** Totals since the start, for metrics. */
export interface TokenCounters {
  /** Verifications answered from the cache with a good token. */
  readonly hits: number;
  /** Verifications that the cache did not answer. */
  readonly misses: number;
  /** Tokens refused, from the cache or not. */
  readonly rejections: number;
}

/** Issues and verifies API tokens. */
export interface Tokens {
  /**
   * Makes a token, valid for an hour or until `notAfter`. A `cap` that would make the token too long for a header is
   * left out; RESOURCE_EXHAUSTED when it is too long even so.
   */
  issue(request: TokenRequest): Promise<IssuedToken>;
  /**
   * Answers what a token says once it is proven ours and in force. It throws or rejects with a TokenError for any other,
   * and rejects with UNAVAILABLE when the token's key would have to be looked up and the store does not answer.
   */
  verify(token: string): VerifiedToken | Promise<VerifiedToken>;
  /**
   * What a token says that was found good a short while ago and still is; undefined for any other. Costs one hash, or
   * none where the `connection` has brought the same token just before.
   */
  recall(token: string, connection?: object): VerifiedToken | undefined;
  readonly counters: TokenCounters;
}

/** A connection may bring longer ones, which are hashed each time: 4096 connections shall not hold more than 8 MiB. */
const keptTokenLength = 2048;

// Many proxies take header lines of 8 KiB: room is left for the rest of the line and for the signature.
const maxPayloadLength = 7 * 1024;

/** Makes the issuer and verifier; throws when issuer or audiences are not configured (security case T4). */
export function newTokens(options: TokensOptions): Tokens {
  if (options.issuer === "") throw new Error("issuer: must not be empty");
  if (options.audiences.length === 0) throw new Error("audiences: must name at least one");
  if (options.audiences.includes("")) throw new Error("audiences: must not be empty texts");
  return { issue: (request) => issue(request, options), ...verifier(options) };
}

async function issue(request: TokenRequest, { issuer, keys, clock }: TokensOptions): Promise<IssuedToken> {
  const claims = writeClaims(issuer, request, clock());
  const token = await signJws(shorten(claims), await keys.signing());
  return { token, expiresAt: claims.exp * 1000 };
}

// An identity with hundreds of bindings must still get a token, and `cap` is the one claim that nobody relies on.
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

function verifier({ issuer, audiences, keys, clock, cache: limits = defaultTokenCacheLimits }: TokensOptions) {
  const ours: ReadonlySet<string> = new Set(audiences);
  const cache = tokenCache(limits, clock, () => keys.generation);
  const counters = { hits: 0, misses: 0, rejections: 0 };
  // What a client sends with every request. It is kept no longer than the connection, whose buffers have held it as well.
  const latest = new WeakMap<object, { readonly token: string; readonly digest: string }>();

  function verify(token: string): VerifiedToken | Promise<VerifiedToken> {
    return keys.isCurrent() ? verifyNow(token) : keys.makeCurrent().then(() => verifyNow(token));
  }

  function verifyNow(token: string): VerifiedToken | Promise<VerifiedToken> {
    // Before the digest: what it costs must not grow with what a stranger sends (security case T9).
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

  // Whatever is cheap comes first, so that neither a lookup of keys nor a signature is spent on a stranger's token.
  function verifyUnseen(token: string, digest: string): VerifiedToken | Promise<VerifiedToken> {
    const jws = parseJws(token);
    const verified = readClaims(jws.payload, { issuer, audiences: ours, now: clock() });
    const finish = (key: VerificationKey | undefined) => {
      checkSignature(jws, key, digest);
      cache.accept(digest, verified, Math.min(verified.expiresAt, key?.retireTime ?? Infinity), token.length);
      return verified;
    };
    const key = keys.known(jws.kid);
    return key ? finish(key) : keys.find(jws.kid).then(finish);
  }

  function checkSignature(jws: Jws, key: VerificationKey | undefined, digest: string): void {
    if (!key) throw new TokenError("unknown-key");
    if (verifyJws(jws, key)) return;
    // Only what cost a signature is worth remembering: the other checks are cheaper than the memory.
    cache.reject(digest, "signature");
    throw new TokenError("signature");
  }

  function recall(token: string, connection?: object): VerifiedToken | undefined {
    if (token.length > maxBearerLength || !keys.isCurrent()) return undefined;
    const before = connection && latest.get(connection);
    const isSame = before !== undefined && before.token === token;
    const digest = isSame ? before.digest : cache.digest(token);
    const verdict = cache.find(digest);
    if (verdict === undefined || typeof verdict === "string") return undefined;
    if (connection && !isSame && token.length <= keptTokenLength) latest.set(connection, { token, digest });
    counters.hits++;
    return verdict;
  }

  function count(error: unknown): never {
    if (error instanceof TokenError) counters.rejections++;
    throw error;
  }

  return {
    counters,
    recall,
    verify(token: string): VerifiedToken | Promise<VerifiedToken> {
      try {
        const outcome = verify(token);
        return outcome instanceof Promise ? outcome.catch(count) : outcome;
      } catch (error) {
        return count(error);
      }
    },
  };
}
