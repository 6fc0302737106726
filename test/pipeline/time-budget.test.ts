import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { newTimeBudget } from "../../src/pipeline/time-budget.ts";

describe("the budget of computing time", () => {
  const limits = { burstMs: 1000, regainedMsPerSecond: 100 };
  const cases: readonly [rule: string, steps: readonly (readonly [atMs: number, usedMs: number, retryMs: number])[]][] =
    [
      ["a new caller has the whole burst", [[0, 999, 0]]],
      [
        "what is used up comes back at the rate",
        [
          [0, 1000, 10],
          [10, 0, 0],
        ],
      ],
      [
        "a call may use more than is left, and the next one waits longer",
        [
          [0, 3000, 20_010],
          [20_010, 0, 0],
        ],
      ],
      [
        "a pause gives no more than the burst",
        [
          [0, 1000, 10],
          [3_600_000, 1000, 10],
        ],
      ],
      [
        "a clock that was set back takes nothing",
        [
          [1000, 500, 0],
          [0, 499, 0],
        ],
      ],
    ];
  for (const [rule, steps] of cases) {
    it(rule, () => {
      let now = 0;
      const budget = newTimeBudget(limits, () => now);
      for (const [at, usedMs, retryMs] of steps) {
        now = at;
        budget.spend("a", usedMs);
        assert.equal(Math.round(budget.retryMs("a")), retryMs);
      }
    });
  }

  it("callers have budgets of their own", () => {
    const budget = newTimeBudget(limits, () => 0);
    budget.spend("a", 5000);
    assert.equal(budget.retryMs("b"), 0);
  });
});
