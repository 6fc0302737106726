// Replays a rule on the stored shapes of tokens: asks the evaluator of exchanges, and decides nothing that a shape does not say.
import { clone } from "@bufbuild/protobuf";
import {
  type Identity_ClaimMatch,
  Identity_ClaimMatchSchema,
} from "../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { ApiError } from "../../aip/errors.ts";
import { type NamePolicy, noTrust, type Trust } from "../../model/trust.ts";
import type { Audiences } from "../audiences.ts";
import { matchClaims } from "../claim-match.ts";
import { newStepBudget, type StepBudget } from "../patterns/step-budget.ts";
import { issuerOf } from "./issuers.ts";
import { judgeNames, presentedNames } from "./pinned-names.ts";
import { alwaysRead, namedClaims, type Shape } from "./token-shape.ts";

/**
 * The verdict of a rule on a shape. `check` is the claim that does not match, or the one that the shape lacks; `name:`
 * and a kind for a name with another id; `patterns` if the patterns of the rule take too many steps.
 */
export type Verdict =
  | { readonly outcome: "allowed" }
  | { readonly outcome: "denied" | "undecidable"; readonly check: string };

/** The pins of an identity, and the policy that is in force. */
export interface Pins {
  readonly trust: Trust;
  readonly policy: NamePolicy;
}

const noPins: Pins = { trust: noTrust, policy: "off" };

/** The steps of all comparisons of one replay: 300 ms at worst. */
const maxReplaySteps = 10_000_000;

/**
 * Returns a function that decides a shape as an exchange would decide its token. `audiences` are those of rules that name none. Once all
 * shapes together have taken too many steps, no further one is decided.
 */
export function newReplay(
  match: Identity_ClaimMatch,
  pins: Pins = noPins,
  steps = maxReplaySteps,
): (shape: Shape, audiences: Audiences) => Verdict {
  const total = newStepBudget(steps);
  const names = namedClaims(match);
  return (shape, audiences) => {
    const unknown = alwaysRead.find((name) => !Object.hasOwn(shape, name));
    if (unknown !== undefined) return { outcome: "undecidable", check: unknown };
    const missing = names.filter((name) => !Object.hasOwn(shape, name)).sort();
    const known = missing.length === 0 ? match : without(match, missing);
    const own = withinTotal(total);
    try {
      const result = matchClaims(known, shape, audiences, own);
      if (!result.ok) return { outcome: "denied", check: result.claim };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return { outcome: total.isSpent ? "undecidable" : "denied", check: "patterns" };
    }
    return missing[0] === undefined ? judge(shape, pins) : { outcome: "undecidable", check: missing[0] };
  };
}

/** Returns the verdict of the pins on a shape that the rule accepts. Names that are not pinned yet get in, as at an exchange. */
function judge(shape: Shape, { trust, policy }: Pins): Verdict {
  const { contradictorySubject, problems } = judgeNames(trust, policy, presentedNames(shape), 0);
  if (contradictorySubject !== undefined) return { outcome: "denied", check: "sub" };
  const [problem] = problems;
  if (!problem) return { outcome: "allowed" };
  const unknown = issuerOf(shape)?.storable.find((name) => !Object.hasOwn(shape, name));
  return unknown === undefined
    ? { outcome: "denied", check: `name:${problem.kind}` }
    : { outcome: "undecidable", check: unknown };
}

/** Returns the rule without some of its claims. Where that denies, the whole rule does. */
function without(match: Identity_ClaimMatch, names: readonly string[]): Identity_ClaimMatch {
  const rest = clone(Identity_ClaimMatchSchema, match);
  for (const name of names) {
    delete rest.claims[name];
    delete rest.claimPatterns[name];
  }
  return rest;
}

/** Returns the budget of one exchange, which also takes its steps from that of the replay. */
function withinTotal(total: StepBudget): StepBudget {
  const own = newStepBudget();
  return {
    get isSpent() {
      return own.isSpent;
    },
    spend(instructions, characters) {
      own.spend(instructions, characters);
      total.spend(instructions, characters);
    },
  };
}
