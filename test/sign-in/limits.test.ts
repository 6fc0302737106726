import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { signInLimits } from "../../src/sign-in/limits.ts";

describe("limits of the sign-in", () => {
  it("one address that starts sign-ins at the limit leaves places for others", () => {
    const { signIns, signInsPerSecond, signInMs } = signInLimits;
    assert.ok((signInsPerSecond * signInMs) / 1000 <= signIns / 10);
  });
});
