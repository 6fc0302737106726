import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { compareTexts } from "../../src/base/compare-texts.ts";

describe("compareTexts", () => {
  for (const [a, b, order] of [
    ["a", "b", -1],
    ["b", "a", 1],
    ["a", "a", 0],
    ["", "a", -1],
    ["B", "a", -1],
    ["a", "ä", -1],
  ] as const)
    it(`orders "${a}" and "${b}": ${order}`, () => assert.equal(compareTexts(a, b), order));
});
