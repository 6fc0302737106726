import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { RE2JS } from "re2js";
import { Code } from "../../../src/aip/errors.ts";
import {
  checkPattern,
  checkPatternsTogether,
  matchesWhole as matchWithin,
  maxPatternLength,
} from "../../../src/sts/patterns/patterns.ts";
import { maxSteps, newStepBudget, startCost } from "../../../src/sts/patterns/step-budget.ts";
import { parsePattern, patternSize } from "../../../src/sts/patterns/syntax.ts";

/** Whether the pattern matches the value, with all the steps of an exchange for it alone. */
function matchesWhole(pattern: string, value: string): boolean {
  return matchWithin(pattern, value, newStepBudget());
}

describe("a pattern matches the whole value", () => {
  const table: readonly (readonly [rule: string, pattern: string, value: string, matches: boolean])[] = [
    ["M1: alternatives are one group", "a|b", "a", true],
    ["M1: an alternative is not a prefix", "a|b", "aEVIL", false],
    ["M1: an alternative is not a suffix", "a|b", "EVILb", false],
    ["M1: nor with anchors of its own", "^a|b$", "aEVIL", false],
    ["M1: the group cannot be closed from inside", "a)|(?:b", "b", false],
    ["M2: nothing before", "good", "xgood", false],
    ["M2: nothing behind", "good", "goodx", false],
    ["M2: no line break behind", "good", "good\n", false],
    ["M2: no line break before", "good", "\ngood", false],
    ["M2: not one line of several", "(?m)^good$", "good\nevil", false],
    ["M2: a dot is not a line break", "repo:.*", "repo:a\nb", false],
    ["anchors of its own do no harm", "^good$", "good", true],
    ["letters keep their case", "good", "Good", false],
    ["unless the pattern says so", "(?i)good", "Good", true],
    ["wide patterns are allowed", ".*", "anything", true],
    ["a part beyond the BMP is one character", "a.c", "a\u{1f600}c", true],
    ["M8: metacharacters of the value are literal", "repo:a/b", "repo:.*", false],
    ["M8: and are matched as such", "repo:\\.\\*", "repo:.*", true],
    ["the empty pattern matches nothing", "", "", false],
    ["a pattern that is not valid matches nothing", "(", "(", false],
    ["M4: time is linear in the value", "(a+)+$", "a".repeat(10_000), true],
    ["M4: and so is giving up", "(a+)+$", `${"a".repeat(10_000)}b`, false],
    ["M4: a value that takes nearly all steps", ".*(?:a?){500}", "a".repeat(150), true],
  ];
  for (const [rule, pattern, value, matches] of table) {
    it(rule, () => assert.equal(matchesWhole(pattern, value), matches));
  }

  it("a quoted text matches only itself", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 40 }), fc.string(), (text, more) => {
        const pattern = RE2JS.quote(text);
        fc.pre(checkPattern(pattern, "claim") === undefined);
        assert.ok(matchesWhole(pattern, text));
        assert.equal(matchesWhole(pattern, text + more), more === "");
      }),
    );
  });
});

describe("the steps of an exchange", () => {
  const denial = { code: Code.PERMISSION_DENIED, message: /takes too many steps$/ };

  it("M4: a value that needs more steps than are left is rejected before matching", () => {
    assert.throws(() => matchesWhole(".*(?:a?){500}", "a".repeat(200)), denial);
  });

  it("M4: all patterns and values share one budget of steps", () => {
    const steps = newStepBudget();
    const match = () => matchWithin("[a-z]*(?:[a-z]{0,30}[a-z]*){0,12}x", "a".repeat(100), steps);
    assert.equal(match(), false);
    assert.equal(steps.isSpent, false);
    assert.throws(match, denial);
    assert.equal(steps.isSpent, true);
    assert.throws(() => matchWithin("a", "a", steps), denial);
  });

  it("M4: steps count instructions times characters, and each start", () => {
    const steps = newStepBudget();
    steps.spend(1, maxSteps - startCost);
    assert.equal(steps.isSpent, false);
    assert.throws(() => steps.spend(1, 0), denial);
  });
});

describe("the patterns of one identity", () => {
  it("M4: the total size of an identity's patterns is limited", () => {
    const heavy = "(.*a){0,90}.*x";
    for (const pattern of [heavy, "a{1000}"]) assert.equal(checkPattern(pattern, "claim"), undefined);
    assert.equal(checkPatternsTogether(Array(4).fill(heavy)), undefined);
    assert.match(checkPatternsTogether(Array(5).fill(heavy)) ?? "", /more than 2400 instructions together/);
    assert.match(checkPatternsTogether(["a{1000}", "b{1000}", "c{1000}"]) ?? "", /these have 30\d\d$/);
  });

  it("M4: a repetition with a maximum counts as often as that, and one without as often as its minimum", () => {
    const size = (text: string) => patternSize(parsePattern(text)!.root);
    assert.equal(size("a{2,5}"), size("a{5}"));
    assert.equal(size("a{2,}"), size("a{2}"));
  });

  it("fifty ordinary patterns of one identity are accepted", () => {
    const usual = Array.from({ length: 50 }, (_, index) => `repo:acme/service-${index}:ref:refs/heads/.+`);
    assert.equal(checkPatternsTogether(usual), undefined);
  });
});

describe("a pattern is rejected", () => {
  const table: readonly (readonly [rule: string, pattern: string, problem: RegExp])[] = [
    ["M6: empty", "", /must not be empty/],
    ["M4: longer than the cap", "a".repeat(maxPatternLength + 1), /at most 1024/],
    ["M4: of 100 KiB", "a".repeat(100 * 1024), /at most 1024/],
    ["M4: with 1000 nested groups", `${"(".repeat(1000)}a${")".repeat(1000)}`, /at most 1024/],
    ["M4: with 100 nested groups", `${"(".repeat(100)}a${")".repeat(100)}`, /deeper than 32/],
    ["M4: repeating a repetition", "a{1000}{1000}", /nested repetition operator/],
    ["M4: repeating a group of repetitions", "(a{100}){100}", /repeat/],
    ["M4: many repetitions", "(?:.{1000})".repeat(90), /more than 1200 instructions/],
    ["M4: a class of letters many times", "\\pL{1000}\\pL{1000}", /more than 1200 instructions/],
    ["M4: a back-reference", "(a)\\1", /invalid escape sequence \\1/],
    ["M4: a look-ahead", "a(?=b)", /\(\?=/],
    ["M4: a negative look-ahead", "a(?!b)", /\(\?!/],
    ["M4: a look-behind", "(?<=a)b", /\(\?<=a/],
    ["M4: an atomic group", "(?>a)", /\(\?>/],
    ["an open group", "(a", /missing closing \)/],
    ["an open class", "[a", /missing closing \]/],
    ["M1: a group closed from inside", "a)|(?:b", /unexpected \)/],
    ["an open quotation", "\\Qa", /missing closing \)/],
    ["U+0000", "a\0", /control characters/],
    ["half a surrogate pair", "a\ud800", /well-formed/],
  ];
  for (const [rule, pattern, problem] of table) {
    it(rule, () => assert.match(checkPattern(pattern, "claim") ?? "accepted", problem));
  }

  it("valid forms of RE2 are accepted", () => {
    const patterns = [
      "a{2,}?",
      "a{,2}",
      "[]a]",
      "[^]a]+",
      "[[:alpha:]_]",
      "[\\]]",
      "\\Qa.b\\E+",
      "\\x{2e}",
      "\\056",
      "\\p{Greek}",
      "(?P<name>a)",
      "(?<name>a)",
      "(?i:a)b",
      "(?s).",
      "\\bword\\b",
      "\\Aa\\z",
      "a||b",
      "a**?".slice(0, 2),
    ];
    for (const pattern of patterns) assert.equal(checkPattern(pattern, "subject"), undefined, pattern);
  });
});

describe("a pattern of issuers", () => {
  const good = [
    "https://good\\.example",
    "^https://good\\.example$",
    "https:\\/\\/good\\.example\\/[^/]*",
    "https://(?:a|b)\\.good\\.example(?:/[^/]*)?",
    "(?:https://a\\.example|https://b\\.example/[^/]+/?)",
    "https://[a-z0-9-]+\\.good\\.example",
    "https://[[:alnum:]-]+\\.good\\.example",
    "https://\\w+\\.good[.]example:\\d+/\\w*",
    "https://\\Qgood.example\\E/[^?#/]*/(?:[a-z]+\\.)+b",
    "https://good\\.example/(?:a/b|c[/]d)/[[:alnum:]]{3}",
    "https://good\\x2eexample",
    "https://oidc\\.eks\\.us-east-1\\.amazonaws\\.com/id/[0-9A-F]{32}",
    "https?://127\\.0\\.0\\.1:[0-9]+",
  ];
  for (const pattern of good)
    it(`a pattern of issuers may be ${pattern}`, () => assert.equal(checkPattern(pattern, "issuer"), undefined));

  const table: readonly (readonly [rule: string, pattern: string, problem: RegExp])[] = [
    [
      "an unescaped dot",
      "https://good.example",
      /^"\." at position 13 .*; write "\\\." for a dot, "\[a-z0-9-\]\+" for what may differ between two dots$/,
    ],
    ["a dot that is repeated", "https://.*\\.good\\.example", /^"\." at position 9 /],
    ["a dot at the end of the host", "https://good\\.example.*", /^"\." at position 22 /],
    ["a dot in one of several alternatives", "https://(?:a\\.example|b.example)", /^"\." at position 24 /],
    ["a dot in a later alternative", "https://a\\.example|https://b.example", /^"\." at position 29 /],
    ["a dot behind a path that may be absent", "https://a\\.example(?:/b)?.c", /^"\." at position 26 /],
    ["\\S", "https://\\S+\\.good\\.example", /^"\\S" at position 9 can match "\/"/],
    ["\\W", "https://good\\W", /^"\\W" at position 13 can match/],
    ["\\D", "https://good\\D", /^"\\D" at position 13 can match/],
    [
      "a negated class",
      "https://[^/]+\\.example",
      /^"\[\^\/\]" at position 9 can match "\." in the host; write "\[a-z0-9-\]\+" for/,
    ],
    ["a class with a dot", "https://[a-z.]+\\.good\\.example", /^"\[a-z\.\]" at position 9 can match "\."/],
    ["a range over the slash", "https://[!-~]+\\.good\\.example", /can match "\/"/],
    ["a class with a backslash", "https://[a-z\\\\]+\\.good\\.example", /can match "\\"/],
    ["a class with a question mark", "https://[a-z?]+\\.good\\.example", /can match "\?"/],
    ["a class with a colon", "https://[a-z:]+\\.good\\.example", /can match ":"/],
    ["a class with an at sign", "https://[a-z@]+\\.good\\.example", /can match "@"/],
    ["a negated named class", "https://[[:^alpha:]]+\\.good\\.example", /can match/],
    ["a Unicode class with punctuation", "https://\\p{P}good\\.example", /can match/],
    ["a Unicode class with wide dots", "https://[\\x{3000}-\\x{30ff}]+\\.example", /can match "。"/],
    ["user information", "https://good\\.example@evil\\.example", /^"@" at position 22 may not stand/],
    ["flags", "(?i)https://good\\.example", /^"\(\?i\)" at position 1 sets flags/],
    ["flags of a group", "https://(?s:good)\\.example", /sets flags/],
    ["any issuer at all", ".*", /must begin .* "\." at position 1/],
    ["any scheme", "\\w+://good\\.example", /must begin .* "\\w" at position 1/],
    ["any beginning", ".*good\\.example", /must begin/],
    ["a glob", "https://*.mycompany\\.com", /"\/" at position 8 may not be repeated/],
    ["another scheme", "ftp://good\\.example", /must begin .* "f" at position 1/],
    ["no scheme", "good\\.example", /must begin .* "g" at position 1/],
    ["a scheme that may be absent", "(?:https://)?good\\.example", /must begin .* "g" at position 14/],
    ["an end before the host", "https:/?/?", /must begin/],
    ["an empty alternative", "https://good\\.example|", /must begin/],
    [
      "a dot in the path that is repeated",
      "https://good\\.example/tenant-a/.+",
      /^"\." at position 32 can match "\/"; write "\[\^\/\]"/,
    ],
    ["a dot in the path", "https://good\\.example/a.b", /^"\." at position 24 can match "\/"/],
    ["a dot in an optional path", "https://good\\.example(?:/.*)?", /^"\." at position 26 can match "\/"/],
    ["\\S in the path", "https://good\\.example/\\S+", /^"\\S" at position 23 can match "\/"/],
    ["\\W in the path", "https://good\\.example/\\W*", /can match "\/"/],
    ["\\D in the path", "https://good\\.example/\\D{3}", /can match "\/"/],
    ["a negated class in the path", "https://good\\.example/[^x]+", /^"\[\^x\]" at position 23 can match "\/"/],
    ["a negated named class in the path", "https://good\\.example/[[:^alpha:]]+", /can match "\/"/],
    ["a named class of signs in the path", "https://good\\.example/[[:punct:]]+", /can match "\/"/],
    ["a range over the slash in the path", "https://good\\.example/[!-~]+", /can match "\/"/],
    ["a class with a slash in the path", "https://good\\.example/[a-z/]+", /can match "\/"/],
    ["a Unicode class in the path", "https://good\\.example/\\p{Po}+", /can match "\/"/],
    ["a negated Unicode class in the path", "https://good\\.example/\\PL+", /can match "\/"/],
    ["a slash that is repeated", "https://good\\.example/+a", /^"\/" at position 22 may not be repeated/],
    ["an escaped slash that is repeated", "https://good\\.example(?:\\x2f)*", /may not be repeated/],
    ["a quoted slash that is repeated", "https://\\Qgood.example/\\E+", /may not be repeated/],
    ["segments that are repeated", "https://good\\.example(?:/[a-z]+)+", /^"\/" at position 25 may not be repeated/],
    ["segments that are repeated twice", "https://good\\.example(?:/[a-z]+){2}", /may not be repeated/],
    ["segments that may be repeated twice", "https://good\\.example(?:(?:/a)?){0,2}", /may not be repeated/],
    ["a slash as a repeated alternative", "https://good\\.example/(?:[a-z]|/)*", /may not be repeated/],
    ["a class of a slash that is repeated", "https://good\\.example/(?:a[/])+", /may not be repeated/],
  ];
  for (const [rule, pattern, problem] of table) {
    it(`M3: a pattern of issuers may not have ${rule}: ${pattern}`, () => {
      assert.match(checkPattern(pattern, "issuer") ?? "accepted", problem);
      assert.equal(checkPattern(pattern, "subject"), undefined);
    });
  }

  const dead: readonly (readonly [pattern: string, problem: RegExp])[] = [
    ["https://Issuer\\.example", /must be written as "https:\/\/issuer\.example"$/],
    ["https://Issuer\\.example/[a-z]+", /must be written as "https:\/\/issuer\.example"$/],
    ["https://[a-z]+\\.Example/[a-z]+", /the host of an issuer has no "E"$/],
    ["https://[a-z]+\\.example:443", /an issuer does not name the default port 443$/],
    ["https://issuer\\.example:443/[a-z]+", /must be written as "https:\/\/issuer\.example"$/],
    ["https://issuer\\.example:0/[a-z]+", /must not have port 0$/],
    ["https://issuer\\.\\.example/[a-z]+", /two in a row$/],
    ["https://issuer\\.example/\\.\\./[a-z]+", /must not have a dot segment in its path$/],
    ["https://issuer\\.example//[a-z]+", /must not have an empty path segment$/],
    ["https://issuer\\.example/[a-z]+\\?x=1", /an issuer has no "\?" in its path$/],
    ["https://issuer\\.example/%41/[a-z]+", /must percent-encode nothing/],
    ["https://A\\.example/[a-z]|https://B\\.example/[a-z]", /must be written as/],
  ];
  for (const [pattern, problem] of dead)
    it(`a pattern of issuers is rejected if no issuer in canonical spelling can match it: ${pattern}`, () => {
      const found = checkPattern(pattern, "issuer") ?? "accepted";
      assert.match(found, /^can never match: /);
      assert.match(found, problem);
    });

  it("a pattern of issuers may have parts that match no issuer, as long as another part does", () => {
    for (const pattern of [
      "https://[A-Z]?issuer\\.example",
      "https://A\\.example|https://a\\.example",
      "https://issuer\\.example:(?:443|8443)",
      "https://issuer\\.example(?:/x)?Y",
      "https?://issuer\\.example:80/[a-z]+",
      "https://issuer\\.example/",
      "https://issuer\\.example/[a-z]*/",
    ])
      assert.equal(checkPattern(pattern, "issuer"), undefined, pattern);
  });

  it("M3: an accepted pattern never matches another host than those written", () => {
    const hosts = fc.string({ unit: fc.constantFrom(..."ab./?#@:\\%-"), maxLength: 12 });
    fc.assert(
      fc.property(hosts, (host) => {
        for (const pattern of [
          "https://[ab-]+\\.good\\.example(?:/[^/]*)?",
          "https://(?:a|b)?good\\.example(?:/[^/]*)?",
        ]) {
          const issuer = `https://${host}good.example`;
          const parsed = URL.parse(issuer);
          if (matchesWhole(pattern, issuer)) assert.ok(parsed?.host.endsWith("good.example"), issuer);
        }
      }),
    );
  });
});
