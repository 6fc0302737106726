import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { Identity_ClaimMatchSchema } from "../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { Code } from "../../src/aip/errors.ts";
import { parseExactly } from "../../src/base/json.ts";
import { defaultAudiences } from "../../src/sts/audiences.ts";
import { type Claims, matchClaims } from "../../src/sts/claim-match.ts";
import { newStepBudget } from "../../src/sts/patterns/step-budget.ts";

type Init = MessageInitShape<typeof Identity_ClaimMatchSchema>;

const defaults = defaultAudiences("https://gatehouse.example", false);
const good = { iss: "https://issuer.example", sub: "workload", aud: "https://gatehouse.example" };
const base: Init = { iss: { case: "issuer", value: good.iss }, sub: { case: "subject", value: good.sub } };

/** Returns the first claim that does not match; undefined when all do. */
function mismatch(init: Init, claims: Claims): string | undefined {
  const match = create(Identity_ClaimMatchSchema, { ...base, ...init });
  const result = matchClaims(match, claims, defaults, newStepBudget());
  return result.ok ? undefined : result.claim;
}

const composed = "caf\u00e9";
const decomposed = "cafe\u0301";

describe("iss, sub and aud", () => {
  const table: readonly (readonly [rule: string, init: Init, changes: object, claim: string | undefined])[] = [
    ["match exactly", {}, {}, undefined],
    ["M5: a trailing slash of the issuer counts", {}, { iss: `${good.iss}/` }, "iss"],
    ["M5: letters keep their case in the issuer", {}, { iss: "https://Issuer.example" }, "iss"],
    ["M5: letters keep their case in the subject", {}, { sub: "Workload" }, "sub"],
    ["M5: a space behind counts", {}, { sub: "workload " }, "sub"],
    ["M5: NFC is not NFD", { sub: { case: "subject", value: composed } }, { sub: decomposed }, "sub"],
    ["M5: nor in patterns", { sub: { case: "subjectPattern", value: composed } }, { sub: decomposed }, "sub"],
    ["M7: an absent issuer", {}, { iss: undefined }, "iss"],
    ["M7: an issuer that is a list", {}, { iss: [good.iss] }, "iss"],
    ["M7: an absent subject", {}, { sub: undefined }, "sub"],
    ["M7: a subject that is a number", { sub: { case: "subject", value: "7" } }, { sub: 7 }, "sub"],
    ["M6: an empty subject matches nothing", { sub: { case: "subject", value: "" } }, { sub: "" }, "sub"],
    ["M6: nor does a missing one", { sub: { case: undefined } }, { sub: "" }, "sub"],
    ["M6: nor a missing issuer", { iss: { case: undefined } }, { iss: "" }, "iss"],
    ["a pattern of the subject", { sub: { case: "subjectPattern", value: "work.+" } }, {}, undefined],
    ["M1: a pattern is whole", { sub: { case: "subjectPattern", value: "a|work" } }, {}, "sub"],
    ["M8: a pattern in the token is data", {}, { sub: ".*" }, "sub"],
    ["M8: a glob in the token is data", {}, { aud: "*" }, "aud"],
    ["a pattern of the issuer", { iss: { case: "issuerPattern", value: "https://issuer\\.example" } }, {}, undefined],
    ["X10: our address without the scheme", {}, { aud: "gatehouse.example" }, undefined],
    ["X10: our address with a slash at the end", {}, { aud: "https://gatehouse.example/" }, undefined],
    ["X10: our address with two", {}, { aud: "https://gatehouse.example//" }, "aud"],
    ["X10: our address in upper case", {}, { aud: "https://Gatehouse.example" }, "aud"],
    [
      "X10: an audience of the identity's keeps its slash",
      { aud: { case: "audience", value: "own" } },
      { aud: "own/" },
      "aud",
    ],
    ["X10: another service", {}, { aud: "https://other.example" }, "aud"],
    ["X10: no audience", {}, { aud: undefined }, "aud"],
    ["X10: a prefix of ours", {}, { aud: "https://gatehouse" }, "aud"],
    ["one of several audiences", {}, { aud: ["other", "gatehouse.example"] }, undefined],
    ["none of several audiences", {}, { aud: ["other", "another"] }, "aud"],
    ["no audience at all", {}, { aud: [] }, "aud"],
    ["audiences that are not strings", {}, { aud: [7, null, { a: 1 }] }, "aud"],
    ["an audience of the identity's", { aud: { case: "audience", value: "own" } }, { aud: ["own"] }, undefined],
    ["which replaces the default", { aud: { case: "audience", value: "own" } }, {}, "aud"],
    ["a pattern of audiences", { aud: { case: "audiencePattern", value: "o.n" } }, { aud: ["x", "own"] }, undefined],
    ["which is whole", { aud: { case: "audiencePattern", value: "o.n" } }, { aud: ["owner", "town"] }, "aud"],
    ["M6: an empty audience matches nothing", { aud: { case: "audience", value: "" } }, { aud: "" }, "aud"],
    ["the issuer is the first to fail", {}, { iss: "x", sub: "x", aud: "x" }, "iss"],
    ["then the subject", {}, { sub: "x", aud: "x" }, "sub"],
  ];
  for (const [rule, init, changes, claim] of table) {
    it(rule, () => assert.equal(mismatch(init, { ...good, ...changes }), claim));
  }

  it("Google's issuer is the same with and without its scheme, and no other is", () => {
    const init: Init = { iss: { case: "issuer", value: "https://accounts.google.com" } };
    assert.equal(mismatch(init, { ...good, iss: "accounts.google.com" }), undefined);
    assert.equal(mismatch(init, { ...good, iss: "https://accounts.google.com" }), undefined);
    assert.equal(mismatch({}, { ...good, iss: "issuer.example" }), "iss");
  });
});

describe("further claims", () => {
  const exact = (value: string): Init => ({ claims: { x: value } });
  const pattern = (value: string): Init => ({ claimPatterns: { x: value } });
  /** Returns a claim as a token has it. */
  const sent = (json: string) => parseExactly(json);
  const table: readonly (readonly [rule: string, init: Init, claim: unknown, matches: boolean])[] = [
    ["a string", exact("a"), "a", true],
    ["another string", exact("a"), "b", false],
    ["M5: another case", exact("a"), "A", false],
    ["an empty string", exact(""), "", true],
    ["a pattern", pattern("a+"), "aaa", true],
    ["M2: a pattern is whole", pattern("a+"), "aab", false],
    ["M7: a number by its JSON text", exact("42"), 42, true],
    ["M7: a number by a pattern", pattern("\\d+"), 42, true],
    ["M7: a fraction", exact("1.5"), 1.5, true],
    ["M7: a number in another spelling", exact("42.0"), 42, false],
    ["M7: a number in the spelling in which it was sent", exact("1.0"), sent("1.0"), true],
    ["M7: a number that was sent in another spelling", exact("1"), sent("1.0"), false],
    ["M7: a number with an exponent", exact("100"), sent("1e2"), false],
    ["M7: a number with a capital exponent", exact("1E2"), sent("1E2"), true],
    ["M7: a number beyond all numbers is not null", exact("null"), sent("1e400"), false],
    ["M7: a number beyond all numbers", exact("1e400"), sent("1e400"), true],
    ["M7: a number beyond all numbers is not infinity", exact("Infinity"), sent("1e400"), false],
    ["M7: a number that is nearly zero", exact("0"), sent("1e-400"), false],
    ["M7: zero with a sign", exact("0"), sent("-0"), false],
    ["M7: zero with a sign, by its text", exact("-0"), sent("-0"), true],
    ["M7: an integer of 2^53", exact("9007199254740992"), sent("9007199254740992"), true],
    ["M7: an integer beyond 2^53", exact("9007199254740993"), sent("9007199254740993"), true],
    ["M7: the integer that it would be rounded to", exact("9007199254740992"), sent("9007199254740993"), false],
    ["M7: a fraction that would be rounded", exact("0.1"), sent("0.10000000000000000001"), false],
    ["M7: an integer beyond 2^53 by a pattern", pattern("90071992547409\\d3"), sent("9007199254740993"), true],
    ["M7: a number of another spelling in a list", exact("1"), sent("[1.0, 2]"), false],
    ["M7: an integer beyond 2^53 in a list", exact("9007199254740993"), sent("[1, 9007199254740993]"), true],
    ["M7: a number in an object", pattern(".*"), sent('{"a": 1.0}'), false],
    ["M7: a number in a list of lists", pattern(".*"), sent("[[1.0]]"), false],
    ["a string with a line break", pattern("(?s).*"), "a\nb", false],
    ["a string with a mark that turns its direction", pattern(".*"), "a\u202eb", false],
    ["such strings in a list with another one", pattern(".*"), ["a\u0000", "b"], true],
    ["M7: true by its JSON text", exact("true"), true, true],
    ["M7: false is not true", exact("true"), false, false],
    ["M7: the string is as good", exact("true"), "true", true],
    ["M7: an absent claim", exact("undefined"), undefined, false],
    ["M7: an absent claim by a pattern", pattern(".*"), undefined, false],
    ["M7: null", exact("null"), null, false],
    ["M7: an object", exact('{"a":1}'), { a: 1 }, false],
    ["M7: an object by a pattern", pattern(".*"), { a: 1 }, false],
    ["one of a list", exact("b"), ["a", "b"], true],
    ["one of a list by a pattern", pattern("b+"), ["a", "bb"], true],
    ["none of a list", exact("c"), ["a", "b"], false],
    ["a list is not its text", exact("a,b"), ["a", "b"], false],
    ["an empty list", pattern(".*"), [], false],
    ["M7: a number in a list", exact("7"), ["a", 7], true],
    ["M7: a number in a list by a pattern", pattern("\\d"), [7], true],
    ["M7: true in a list", exact("true"), [false, true], true],
    ["M7: lists, objects and null in a list", pattern(".*"), [["a"], { a: 1 }, null], false],
    ["M8: a pattern in the token is data", exact("a"), ".*", false],
    ["exact and pattern together", { claims: { x: "ab" }, claimPatterns: { x: "a." } }, "ab", true],
    ["of which the exact one fails", { claims: { x: "ac" }, claimPatterns: { x: "a." } }, "ab", false],
    ["of which the pattern fails", { claims: { x: "ab" }, claimPatterns: { x: "b." } }, "ab", false],
  ];
  for (const [rule, init, claim, matches] of table) {
    it(rule, () => assert.equal(mismatch(init, { ...good, x: claim }), matches ? undefined : "x"));
  }

  it("claims are compared in their order, and the error names the first that differs", () => {
    const init: Init = { claims: { c: "1", a: "1" }, claimPatterns: { b: "1" } };
    assert.equal(mismatch(init, { ...good }), "a");
    assert.equal(mismatch(init, { ...good, a: "1" }), "b");
    assert.equal(mismatch(init, { ...good, a: "1", b: "1" }), "c");
    assert.equal(mismatch(init, { ...good, a: "1", b: "1", c: "1" }), undefined);
  });

  it("M4: all claims share one budget of pattern steps", () => {
    const names = Array.from({ length: 8 }, (_, index) => `c${index}`);
    const claimPatterns = Object.fromEntries(names.map((name) => [name, "(.*a){0,30}.*x"]));
    const claims = (count: number) =>
      Object.fromEntries(names.slice(0, count).map((name) => [name, `${"a".repeat(150)}x`]));
    // Absent claims cost no steps.
    assert.equal(mismatch({ claimPatterns }, { ...good, ...claims(3) }), "c3");
    assert.throws(() => mismatch({ claimPatterns }, { ...good, ...claims(8) }), {
      code: Code.PERMISSION_DENIED,
      message: /too many steps/,
    });
  });

  it("M4: elements of a list share the budget of pattern steps, empty ones included", () => {
    assert.throws(() => mismatch(pattern("a+"), { ...good, x: Array(5000).fill("") }), { message: /too many steps/ });
  });

  it("M7: claims named like members of all objects are absent unless the token has them", () => {
    for (const name of ["constructor", "toString", "__proto__", "hasOwnProperty"]) {
      const claimPatterns = JSON.parse(`{"${name}": "(?s).*"}`);
      assert.equal(mismatch({ claimPatterns }, good), name);
      const claims = JSON.parse(`{"${name}": "own", ${JSON.stringify(good).slice(1)}`);
      assert.equal(mismatch({ claimPatterns }, claims), undefined);
    }
  });
});
