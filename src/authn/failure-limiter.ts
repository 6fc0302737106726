// How many bad tokens one client may have looked at: a verification costs a signature (security case D8).
import { LRUCache } from "lru-cache";
import { ApiError, Code, rateLimited } from "../aip/errors.ts";
import type { Clock } from "../base/clock.ts";
import { once } from "../base/lazy.ts";
import { clientOf } from "../base/network-address.ts";

/** How much an address may get wrong, and how many addresses are remembered. */
export interface FailureLimits {
  /** Refused tokens within a second, after which an address waits for the next one. */
  readonly perSecond: number;
  /** Addresses that are counted at a time; the one that was quiet longest is forgotten first. */
  readonly sources: number;
}

/** Counts the refused tokens of each client, by its canonical address. The addresses of one IPv6 /64 are one client. */
export interface FailureBudget {
  /** Whether the client has had its share of this second. */
  isSpent(address: string): boolean;
  /** Counts one refused token. */
  spend(address: string): void;
}

/** Within this time failures are counted together, and the next such time allows as many again. */
export const windowMs = 1000;

interface Tally {
  /** The second that is counted, since the epoch. */
  second: number;
  failures: number;
}

/** A budget in memory that nobody has drawn on yet. */
export function newFailureBudget({ perSecond, sources }: FailureLimits, clock: Clock): FailureBudget {
  // The memory for so many sources is taken at once: by the first failure.
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

/** A credential, and what looks at it. */
export interface Look<T> {
  /** The address that it came from. */
  readonly source: string;
  /** Whether it was found good before, so that to look again costs nothing. */
  isKnown?(): boolean;
  /** Rejects with UNAUTHENTICATED or PERMISSION_DENIED when the credential is no good. */
  look(): Promise<T>;
}

/**
 * Has a credential looked at, and counts it against its address when it is refused. RESOURCE_EXHAUSTED, without a look, once
 * the address has had its share of this second, unless the credential is known to be good.
 */
export async function lookWithin<T>(
  failures: FailureBudget,
  { source, isKnown = () => false, look }: Look<T>,
): Promise<T> {
  if (failures.isSpent(source) && !isKnown()) throw tooManyFailures();
  try {
    return await look();
  } catch (error) {
    if (error instanceof ApiError && refusals.includes(error.code)) failures.spend(source);
    throw error;
  }
}

/** RESOURCE_EXHAUSTED: the address has had its share. */
export function tooManyFailures(): ApiError {
  return rateLimited("too many bad tokens from this address; try again in a second", windowMs);
}

const refusals: readonly Code[] = [Code.UNAUTHENTICATED, Code.PERMISSION_DENIED];
