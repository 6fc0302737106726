// The stored shapes of tokens, and what a rule that is replayed on them may say.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { Identity_ClaimMatchSchema } from "../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { parseExactly } from "../../../src/base/json.ts";
import { exactAudiences } from "../../../src/sts/audiences.ts";
import type { Claims } from "../../../src/sts/claim-match.ts";
import { newReplay } from "../../../src/sts/trust/replay.ts";
import { formatShape, parseShape } from "../../../src/sts/trust/token-shape.ts";

const gitHub = "https://token.actions.githubusercontent.com";
const audiences = exactAudiences("https://gatehouse.example");

type Further = Pick<MessageInitShape<typeof Identity_ClaimMatchSchema>, "claims" | "claimPatterns">;

function ruleOf(further: Further = {}, subjectPattern = ".*") {
  return create(Identity_ClaimMatchSchema, {
    iss: { case: "issuer", value: gitHub },
    sub: { case: "subjectPattern", value: subjectPattern },
    ...further,
  });
}

const token: Claims = {
  sub: "repo:acme/app:ref:refs/heads/main",
  iss: gitHub,
  aud: "https://gatehouse.example",
  ref: "refs/heads/main",
  repository: "acme/app",
};

describe("the shape of a token", () => {
  it("has no claim that is neither in the catalogue nor in the rule, wherever a value stands", () => {
    const marker = "MARKER";
    const personal = [
      "actor",
      "actor_id",
      "email",
      "name",
      "user_login",
      "sha",
      "jti",
      "run_number",
      "unknown",
      "kubernetes.io",
    ];
    const claims = {
      ...token,
      ...Object.fromEntries(personal.map((name) => [name, marker])),
      repository_owner: { sha: marker },
      environment: [{ actor: marker }, [marker], "production"],
      "kubernetes.io": {
        namespace: "default",
        pod: { name: marker },
        serviceaccount: { name: "app", uid: "7", actor: marker },
      },
    };
    for (const iss of [gitHub, "https://cluster.example"])
      assert.doesNotMatch(formatShape(ruleOf(), { ...claims, iss }), /MARKER/);
    assert.deepEqual(parseShape(formatShape(ruleOf(), claims)).environment, ["production"]);
  });

  it("has the claims that the rule names, also those that are not in the catalogue", () => {
    const rule = ruleOf({ claims: { email: "ci@acme.example" }, claimPatterns: { team: ".*" } });
    const shape = parseShape(formatShape(rule, { ...token, email: "else@acme.example", team: "a", level: 1 }));
    assert.deepEqual([shape.email, shape.team, Object.hasOwn(shape, "level")], ["else@acme.example", "a", false]);
  });

  it("is the same text for equal claims in another order, and keeps numbers as they were sent", () => {
    const rule = ruleOf({ claims: { level: "1.0" } });
    const claims = parseExactly(`{"level":1.0,"sub":"a","iss":"${gitHub}"}`) as Claims;
    const text = formatShape(rule, claims);
    assert.equal(text, formatShape(rule, Object.fromEntries(Object.entries(claims).reverse())));
    assert.match(text, /"level":1\.0,/);
    assert.equal(newReplay(rule)({ ...parseShape(text), aud: token.aud }, audiences).outcome, "allowed");
  });

  it("of a token with 100 kB of claims has at most 8 kB, and says nothing of those that are left out", () => {
    const long = "x".repeat(100_000);
    const rule = ruleOf({ claims: { long } });
    const text = formatShape(rule, { ...token, long, repository: long });
    assert.ok(text.length <= 8192);
    assert.deepEqual(newReplay(rule)(parseShape(text), audiences), { outcome: "undecidable", check: "long" });
    const names = Array.from({ length: 50 }, (_, i) => [`${i}${"n".repeat(1500)}`, "v"]);
    const many = formatShape(ruleOf({ claims: Object.fromEntries(names) }), { ...token, ...Object.fromEntries(names) });
    assert.ok(many.length <= 8192, `${many.length}`);
    const huge = formatShape(ruleOf(), { ...token, sub: long, aud: Array(100).fill(long) });
    assert.deepEqual(newReplay(ruleOf())(parseShape(huge), audiences), { outcome: "undecidable", check: "sub" });
  });
});

describe("a replayed rule", () => {
  const shape = parseShape(formatShape(ruleOf(), token));
  const decide = (further: Further, subjectPattern?: string) =>
    newReplay(ruleOf(further, subjectPattern))(shape, audiences);

  it("accepts and denies by claims that are stored", () => {
    assert.deepEqual(decide({ claims: { ref: "refs/heads/main" } }), { outcome: "allowed" });
    assert.deepEqual(decide({ claims: { ref: "refs/heads/other" } }), { outcome: "denied", check: "ref" });
  });

  it("denies by a claim of the catalogue that the token is known not to have", () => {
    assert.deepEqual(decide({ claims: { environment: "production" } }), { outcome: "denied", check: "environment" });
  });

  it("does not decide by a claim that was not stored, unless another claim denies the token anyway", () => {
    assert.deepEqual(decide({ claims: { team: "a" } }), { outcome: "undecidable", check: "team" });
    assert.deepEqual(decide({ claimPatterns: { team: ".*" } }, "repo:other.*"), { outcome: "denied", check: "sub" });
  });

  it("denies a token for which an exchange would take too many steps, and decides none once the replay has taken too many", () => {
    const costly = ruleOf({}, "(a|b|[x-z]y?){1,100}");
    const long = { ...shape, sub: "x".repeat(1500) };
    assert.deepEqual(newReplay(costly)(long, audiences), { outcome: "denied", check: "patterns" });
    const replay = newReplay(ruleOf(), undefined, 1000);
    const outcomes = Array.from({ length: 10 }, () => replay(shape, audiences));
    assert.deepEqual(outcomes[0], { outcome: "allowed" });
    assert.deepEqual(outcomes.at(-1), { outcome: "undecidable", check: "patterns" });
  });
});
