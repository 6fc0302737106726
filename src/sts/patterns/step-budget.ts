// What matching patterns may cost in one exchange: identities are written by one tenant, tokens by anybody, and while a
// pattern is matched nobody else is served (security case M4).
import { patternsDenied } from "../denials.ts";

/** Instructions of a pattern times characters of a value, for all patterns of an exchange together: some 6 ms at worst. */
export const maxSteps = 200_000;

/** What one match costs besides the characters of its value, in characters: it has to be compiled and started. */
export const startCost = 32;

/** The steps that are left to one exchange. */
export interface StepBudget {
  /** Whether more was asked for than there was. */
  readonly isSpent: boolean;
  /** Takes the steps of one match, before it is made. PERMISSION_DENIED when so many are not left. */
  spend(instructions: number, characters: number): void;
}

/** The whole budget of a new exchange. */
export function newStepBudget(): StepBudget {
  let left = maxSteps;
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
