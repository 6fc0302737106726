import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parsePgbench } from "../postgres.ts";
import { ratioOf } from "../row.ts";
import type { Slice } from "../slice.ts";

const output = `transaction type: <builtin: select only>
number of transactions actually processed: 16519
number of failed transactions: 3 (0.018%)
latency average = 1.843 ms
initial connection time = 122.614 ms
tps = 16519.000000 (without initial connection time)
`;

describe("pgbench", () => {
  it("is read with its transactions, failures, duration and mean latency", () =>
    assert.deepEqual(parsePgbench(output), {
      requests: 16519,
      failed: 3,
      seconds: 1,
      p50Ms: 1.843,
      p99Ms: Number.NaN,
    }));

  it("may report no transactions while the machine is stalled", () => {
    const nothing = "number of transactions actually processed: 0\nnumber of failed transactions: 0 (0.000%)\n";
    assert.equal(parsePgbench(nothing).requests, 0);
  });

  it("is an error if it prints no rate", () => {
    assert.throws(() => parsePgbench(output.replace(/^tps.*/m, "")), /pgbench: printed no \^tps = /);
  });

  it("is compared by rate: more requests per second are faster", () => {
    const at = (requestsPerSecond: number) => ({ requestsPerSecond }) as Slice;
    assert.equal(ratioOf({ own: [at(50)], base: [at(90), at(110)] }, "rate"), 0.5);
  });
});
