// Compares docs/statistics.md with the declared metrics.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { it } from "node:test";
import { namesOfNumbers } from "../../src/model/capabilities.ts";
import { metrics } from "../../src/services/statistics/metrics.ts";

it("docs/statistics.md has all metrics, what each counts, and the capability that it needs", () => {
  const rows = readFileSync("docs/statistics.md", "utf8").matchAll(/^\| `(\w+)` \| (.+) \| `(.+)` \|$/gm);
  const declared = Object.entries(metrics).map(([name, { help, capability }]) => {
    return [name, help, namesOfNumbers([capability])[0]];
  });
  assert.deepEqual(
    [...rows].map(([, ...cells]) => cells),
    declared,
  );
});
