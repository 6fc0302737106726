import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { signInLimits } from "../../src/sign-in/limits.ts";

describe("limits of the sign-in", () => {
  it("leave places for others when one address starts sign-ins as fast as it may", () => {
    const { signIns, signInsPerSecond, signInMs } = signInLimits;
    assert.ok((signInsPerSecond * signInMs) / 1000 <= signIns / 10);
  });
});
