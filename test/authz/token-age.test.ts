import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { predatesIdentity } from "../../src/authz/token-age.ts";

const hour = 3_600_000;

describe("a token of an hour, and an identity that was made", () => {
  const cases: [when: string, createTime: number, isFormer: boolean][] = [
    ["before it", -1000, false],
    ["in its second, which it is told by", 999, false],
    ["after it, within what clocks may differ by", 30_000, false],
    ["after it", 30_001, true],
    ["just before it expires", hour - 1, true],
    ["after it expired, by a clock that has been set back", hour, false],
  ];
  for (const [when, createTime, isFormer] of cases) {
    it(`${when} ${isFormer ? "is another one" : "is its own"}`, () =>
      assert.equal(predatesIdentity({ issuedAt: 0, expiresAt: hour }, createTime), isFormer));
  }
});
