// Limits the cost of pattern matching in one exchange: one tenant writes patterns, anyone sends tokens, and matching
// blocks the event loop (security case M4).
import { patternsDenied } from "../denials.ts";

/** Instructions of a pattern times characters of a value, for all patterns of an exchange: 6 ms at worst. */
export const maxSteps = 200_000;

/** The fixed cost of one match, in characters, for compiling and starting it. */
export const startCost = 32;

/** The remaining steps of one exchange. */
export interface StepBudget {
  /** Whether a match was denied because the budget was spent. */
  readonly isSpent: boolean;
  /** Takes the steps of one match before it runs. Throws PERMISSION_DENIED if too few are left. */
  spend(instructions: number, characters: number): void;
}

/** Creates the budget of a new exchange, or of another call with so many steps. */
export function newStepBudget(steps = maxSteps): StepBudget {
  let left = steps;
  return {
    get isSpent() {
      return left < 0;
    },
    spend(instructions, characters) {
      left -= instructions * (characters + startCost);
      if (left < 0) throw patternsDenied();
    },
  };
}
