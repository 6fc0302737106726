// Limits the invalid credentials that one client may send (security case D8). Many people may share an address, so valid credentials must
// not be rejected for invalid ones of others.
import { hash } from "node:crypto";
import { LRUCache } from "lru-cache";
import { ApiError, Code, rateLimited } from "../aip/errors.ts";
import type { Clock } from "../base/clock.ts";
import { once } from "../base/lazy.ts";
import { clientOf } from "../base/network-address.ts";

/** The limits per client address. */
export interface FailureLimiterOptions {
  /** Rejected tokens per second; further tokens must wait for the next second. */
  readonly perSecond: number;
  /** The number of addresses that are counted. The one that was idle longest is evicted first. */
  readonly sources: number;
}

/** Counts rejected tokens per client address (canonical form). The addresses of one IPv6 /64 are one client. */
export interface FailureLimiter {
  /** Reports whether the client has used up this second's limit. */
  isSpent(address: string): boolean;
  /** Counts one rejected token. */
  spend(address: string): void;
  /** Remembers a valid credential, by its digest. The one that was used longest ago is forgotten first. */
  remember(credential: string): void;
  /** Reports whether a credential was valid before. It may have expired since. */
  isKnown(credential: string): boolean;
}

/** Valid credentials that are remembered. */
const rememberedCredentials = 10_000;

/** The length of the counting window. */
export const windowMs = 1000;

interface Tally {
  /** The window being counted, in seconds since the epoch. */
  second: number;
  failures: number;
}

/** Creates an in-memory limiter. */
export function newFailureLimiter({ perSecond, sources }: FailureLimiterOptions, clock: Clock): FailureLimiter {
  // LRUCache allocates memory for all sources up front, so create it on the first failure.
  const tallies = once(() => new LRUCache<string, Tally>({ max: sources }));
  const known = once(() => new LRUCache<string, true>({ max: rememberedCredentials }));
  const currentSecond = () => Math.floor(clock() / windowMs);
  return {
    isSpent(address) {
      const tally = tallies().get(clientOf(address));
      return tally !== undefined && tally.failures >= perSecond && tally.second === currentSecond();
    },
    spend(address) {
      const second = currentSecond();
      const client = clientOf(address);
      const tally = tallies().get(client);
      if (tally?.second === second) tally.failures++;
      else tallies().set(client, { second, failures: 1 });
    },
    remember: (credential) => void known().set(digestOf(credential), true),
    isKnown: (credential) => known().get(digestOf(credential)) === true,
  };
}

function digestOf(credential: string): string {
  return hash("sha256", credential, "base64");
}

/** A credential and the check that verifies it. */
export interface CredentialCheck<T> {
  /** The client address. */
  readonly source: string;
  /** Set for credentials whose check is expensive: that of another issuer may need its keys. */
  readonly expensive?: ExpensiveCredential;
  /** Verifies the credential. Rejects with UNAUTHENTICATED or PERMISSION_DENIED if it is not valid. */
  verify(): Promise<T>;
}

/** A credential that is checked beyond the limit only if it was valid before. */
export interface ExpensiveCredential {
  readonly text: string;
  /** Whether another issuer made it. One of this server costs one signature check or one row, less than the request that carries it. */
  isForeign(): boolean;
}

/**
 * Checks a credential and counts a failure against its client address. Once the address has reached its limit, rejects invalid
 * credentials with RESOURCE_EXHAUSTED, and expensive ones without checking them, unless they were valid before.
 */
export async function withFailureLimit<T>(
  failures: FailureLimiter,
  { source, expensive, verify }: CredentialCheck<T>,
): Promise<T> {
  if (expensive && failures.isSpent(source) && !failures.isKnown(expensive.text) && expensive.isForeign())
    throw tooManyFailures();
  try {
    const verified = await verify();
    if (expensive) failures.remember(expensive.text);
    return verified;
  } catch (error) {
    throw error instanceof ApiError && refusals.includes(error.code) ? countFailure(failures, source, error) : error;
  }
}

/** Counts an invalid credential. Returns `error`, or RESOURCE_EXHAUSTED if the address had reached its limit before. */
export function countFailure(failures: FailureLimiter, source: string, error: ApiError): ApiError {
  if (failures.isSpent(source)) return tooManyFailures();
  failures.spend(source);
  return error;
}

function tooManyFailures(): ApiError {
  return rateLimited("too many bad tokens from this address; try again in a second", windowMs);
}

const refusals: readonly Code[] = [Code.UNAUTHENTICATED, Code.PERMISSION_DENIED];
