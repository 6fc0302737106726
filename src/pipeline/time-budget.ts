import { LRUCache } from "lru-cache";
import type { Clock } from "../base/clock.ts";
import { once } from "../base/lazy.ts";

/** The computing time of each key. */
export interface BudgetLimits {
  /** The time that a key has after a long pause, in milliseconds. */
  readonly burstMs: number;
  /** The time that it regains in a second, in milliseconds. */
  readonly regainedMsPerSecond: number;
}

/** Computing time of callers. A call may use more than is left: the next one then waits longer. */
export interface TimeBudget {
  /** Returns how long the key has to wait until it has time again, in milliseconds; 0 if it has some. */
  retryMs(key: string): number;
  /** Takes the time that a call used. Returns how much of it the key had left. */
  spend(key: string, usedMs: number): number;
}

interface Account {
  leftMs: number;
  filledAt: number;
}

/** The number of keys whose time is counted. The one that was idle longest is evicted first. */
const maxKeys = 10_000;

/** Creates budgets that are full. */
export function newTimeBudget({ burstMs, regainedMsPerSecond }: BudgetLimits, clock: Clock): TimeBudget {
  // LRUCache allocates memory for all keys up front, so create it with the first call.
  const accounts = once(() => new LRUCache<string, Account>({ max: maxKeys }));

  function accountOf(key: string): Account {
    const now = clock();
    const account = accounts().get(key) ?? { leftMs: burstMs, filledAt: now };
    // A clock that was set back must not take time.
    const regained = (Math.max(0, now - account.filledAt) / 1000) * regainedMsPerSecond;
    account.leftMs = Math.min(burstMs, account.leftMs + regained);
    account.filledAt = now;
    accounts().set(key, account);
    return account;
  }

  return {
    retryMs(key) {
      const { leftMs } = accountOf(key);
      return leftMs > 0 ? 0 : ((1 - leftMs) * 1000) / regainedMsPerSecond;
    },
    spend(key, usedMs) {
      const account = accountOf(key);
      const coveredMs = Math.max(0, Math.min(usedMs, account.leftMs));
      account.leftMs -= usedMs;
      return coveredMs;
    },
  };
}
