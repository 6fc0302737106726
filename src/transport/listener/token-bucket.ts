import type { Clock } from "../../base/clock.ts";

/** An allowance that refills with time: `burst` at most, `ratePerSecond` back every second. */
export interface Budget {
  /** Takes one; false when nothing is left. */
  spend(): boolean;
  /** Gives some back, never beyond the burst. */
  refund(amount: number): void;
  /** Whether all is there that was spent. */
  isFull(): boolean;
}

/** A full budget. */
export function newBudget(burst: number, ratePerSecond: number, clock: Clock): Budget {
  let left = burst;
  let filledAt = clock();
  const fill = (amount: number): void => {
    left = Math.min(burst, left + amount);
  };
  return {
    spend() {
      const now = clock();
      // A clock that was set back must not take anything away.
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
