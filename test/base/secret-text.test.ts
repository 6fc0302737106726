import assert from "node:assert/strict";
import { it } from "node:test";
import { isSameSecret } from "../../src/base/secret-text.ts";

const cases: [given: string, expected: string, isSame: boolean][] = [
  ["", "", true],
  ["secret", "secret", true],
  ["secret", "secreT", false],
  ["secret", "secret ", false],
  // As many characters, and more bytes.
  ["é", "e", false],
];
for (const [given, expected, isSame] of cases)
  it(`${JSON.stringify(given)} and ${JSON.stringify(expected)} are ${isSame ? "the same" : "different"}`, () => {
    assert.equal(isSameSecret(given, expected), isSame);
  });
