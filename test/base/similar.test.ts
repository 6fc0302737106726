// Words that misspelt ones were meant to be.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { didYouMean, similarTo } from "../../src/base/similar.ts";

const known = ["json", "yaml", "csv", "groups.list", "role_bindings"];

const cases: readonly (readonly [word: string, found: readonly string[]])[] = [
  ["jsn", ["json"]],
  ["jsno", ["json"]],
  ["JSON", ["json"]],
  ["group.list", ["groups.list"]],
  ["role-bindings", ["role_bindings"]],
  ["rolebinding", ["role_bindings"]],
  ["parquet", []],
  ["", []],
  ["x".repeat(1_000_000), []],
];

describe("the known words that are most like a word", () => {
  for (const [word, found] of cases)
    it(`the known words most like ${JSON.stringify(word.slice(0, 20))}: ${found.join(", ") || "none"}`, () =>
      assert.deepEqual(similarTo(word, known), found));

  it("known words that are equally like a word are all suggested", () => {
    assert.equal(didYouMean("cat", ["bat", "hat", "dog"]), "did you mean one of bat, hat?");
  });
});
