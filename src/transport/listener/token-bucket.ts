import type { Clock } from "../../base/clock.ts";

/** A token bucket: holds at most `burst` tokens, and regains `ratePerSecond` every second. */
export interface TokenBucket {
  /** Takes a token; false if none is left. */
  spend(): boolean;
  /** Returns some tokens, never beyond the burst. */
  refund(amount: number): void;
  /** Whether it holds `burst` tokens. */
  isFull(): boolean;
}

/** Makes a full bucket. */
export function newTokenBucket(burst: number, ratePerSecond: number, clock: Clock): TokenBucket {
  let left = burst;
  let filledAt = clock();
  const fill = (amount: number): void => {
    left = Math.min(burst, left + amount);
  };
  return {
    spend() {
      const now = clock();
      // A clock that was set back must not take tokens.
      fill((Math.max(0, now - filledAt) / 1000) * ratePerSecond);
      filledAt = now;
      if (left < 1) return false;
      left -= 1;
      return true;
    },
    refund: fill,
    isFull: () => left === burst,
  };
}
