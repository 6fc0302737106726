import assert from "node:assert/strict";
import { it } from "node:test";
import { newRestartPolicy } from "../../../src/cli/workers/restart-policy.ts";

it("a worker that ends early again and again is started later each time, and then no more", () => {
  const restarts = newRestartPolicy();
  const delays = Array.from({ length: 7 }, () => restarts.delayAfter(1000));
  assert.deepEqual(delays, [0, 250, 500, 1000, 2000, 4000, undefined]);
  assert.equal(restarts.earlyEnds, 7);
});

it("a worker that has served for a while is started at once", () => {
  const restarts = newRestartPolicy();
  for (let i = 0; i < 6; i++) restarts.delayAfter(1000);
  assert.equal(restarts.delayAfter(60_000), 0);
  assert.equal(restarts.delayAfter(1000), 0);
  assert.equal(restarts.delayAfter(1000), 250);
});
