// Property: a rule decides the stored shape of a token as it decides the token, or says that it cannot.
import assert from "node:assert/strict";
import { it } from "node:test";
import type { Identity_ClaimMatch } from "../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { exactAudiences } from "../../../src/sts/audiences.ts";
import { type ClaimMatchResult, type Claims, matchClaims } from "../../../src/sts/claim-match.ts";
import { newStepBudget } from "../../../src/sts/patterns/step-budget.ts";
import { judgeNames, presentedNames } from "../../../src/sts/trust/pinned-names.ts";
import { newReplay, type Pins } from "../../../src/sts/trust/replay.ts";
import { formatShape, namedClaims, parseShape } from "../../../src/sts/trust/token-shape.ts";
import { newRandom } from "../../history/random.ts";
import { randomClaims, randomPins, randomRule } from "./random-rules.ts";

const audiences = exactAudiences("https://gatehouse.example");

/** Returns what an exchange decides. */
function evaluate(match: Identity_ClaimMatch, claims: Claims, { trust, policy }: Pins): ClaimMatchResult {
  try {
    const result = matchClaims(match, claims, audiences, newStepBudget());
    const presented = presentedNames(claims);
    if (result.ok && policy !== "off" && presented.contradictorySubject !== undefined)
      return { ok: false, claim: "sub" };
    const [problem] = judgeNames(trust, policy, presented, 0).problems;
    return result.ok && problem ? { ok: false, claim: `name:${problem.kind}` } : result;
  } catch {
    return { ok: false, claim: "patterns" };
  }
}

it("a replay of a rule equals its evaluation on 100,000 random tokens, of which the shapes of another rule were stored", () => {
  const random = newRandom(42, 0);
  const counts: Record<string, number> = {};
  for (let i = 0; i < 100_000; i++) {
    const claims = randomClaims(random);
    const [stored, rule] = [randomRule(random, claims), randomRule(random, claims)];
    const shape = parseShape(formatShape(stored, claims));
    const pins = randomPins(random);
    const verdict = newReplay(rule, pins)(shape, audiences);
    const expected = evaluate(rule, claims, pins);
    const told = `${i}: ${JSON.stringify({ shape, rule, claims, verdict, expected })}`;
    counts[verdict.outcome] = (counts[verdict.outcome] ?? 0) + 1;
    if (verdict.outcome !== "allowed" && verdict.check.startsWith("name:")) counts.names = (counts.names ?? 0) + 1;
    if (verdict.outcome === "undecidable") {
      assert.ok([...namedClaims(rule), "sub"].includes(verdict.check), told);
      assert.ok(!Object.hasOwn(shape, verdict.check), told);
    } else assert.equal(verdict.outcome === "allowed", expected.ok, told);
    const isWholeKnown = namedClaims(rule).every((name) => Object.hasOwn(shape, name));
    if (isWholeKnown && verdict.outcome === "denied" && !expected.ok) assert.equal(verdict.check, expected.claim, told);
  }
  for (const outcome of ["allowed", "denied", "undecidable", "names"])
    assert.ok((counts[outcome] ?? 0) > 1000, JSON.stringify(counts));
});
