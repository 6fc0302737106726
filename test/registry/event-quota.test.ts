import assert from "node:assert/strict";
import { it } from "node:test";
import { newEventQuota } from "../../src/services/registry/contents/finding-events.ts";

it("an organization has 1000 events of findings in an hour, and one that says that more are left out", () => {
  let now = Date.UTC(2030, 0, 1);
  const quota = newEventQuota(() => now);
  const taken = Array.from({ length: 1003 }, () => quota.take("a"));
  assert.deepEqual([taken[0], taken[999], ...taken.slice(1000)], ["within", "within", "last", "beyond", "beyond"]);
  assert.equal(quota.take("b"), "within");
  now += 3_600_000;
  assert.equal(quota.take("a"), "within");
});
