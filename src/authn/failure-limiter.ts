// Limits the invalid tokens that one client may send, since each verification costs a signature check (security case
// D8).
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
}

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
  };
}

/** A credential and the check that verifies it. */
export interface CredentialCheck<T> {
  /** The client address. */
  readonly source: string;
  /** Reports whether the credential was verified before, so it need not be checked again. */
  isAlreadyVerified?(): boolean;
  /** Verifies the credential. Rejects with UNAUTHENTICATED or PERMISSION_DENIED if it is not valid. */
  verify(): Promise<T>;
}

/**
 * Checks a credential and counts a failure against its client address. Rejects with RESOURCE_EXHAUSTED, without
 * checking, if the address reached its limit and the credential is not known to be valid.
 */
export async function withFailureLimit<T>(
  failures: FailureLimiter,
  { source, isAlreadyVerified = () => false, verify }: CredentialCheck<T>,
): Promise<T> {
  if (failures.isSpent(source) && !isAlreadyVerified()) throw tooManyFailures();
  try {
    return await verify();
  } catch (error) {
    if (error instanceof ApiError && refusals.includes(error.code)) failures.spend(source);
    throw error;
  }
}

/** The error for a client address that reached its limit. */
export function tooManyFailures(): ApiError {
  return rateLimited("too many bad tokens from this address; try again in a second", windowMs);
}

const refusals: readonly Code[] = [Code.UNAUTHENTICATED, Code.PERMISSION_DENIED];
