import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { measure } from "../rounds.ts";
import { type Row, ratioOf } from "../row.ts";
import type { Scenario } from "../scenario.ts";
import type { Slice } from "../slice.ts";

function scenario(name: string, baseline?: string, more: Partial<Scenario> = {}): Scenario {
  const server = { pid: 0, port: 0, [Symbol.asyncDispose]: async () => {} };
  const load = () => Promise.reject(new Error(`${name}: nothing loads a server here`));
  return { name, server, comparison: "reads", ...(baseline !== undefined && { baseline }), load, ...more };
}

function slice(cpuMicros: number, more: Partial<Slice> = {}): Slice {
  return { cpuMicros, requestsPerSecond: 50_000, p50Ms: cpuMicros / 100, p99Ms: 1, memoryMib: 50, ...more };
}

/**
 * Runs the scenarios and returns the rows, and the names of the slices in their order. `costOf` gets the index of the slice in the run.
 */
async function run(
  scenarios: readonly Scenario[],
  extent: { rounds: number; slices: number },
  costOf: (name: string, at: number) => number | Slice = () => 10,
): Promise<{ rows: ReadonlyMap<string, Row>; order: string[] }> {
  const order: string[] = [];
  const take = async ({ name }: Scenario): Promise<Slice> => {
    const cost = costOf(name, order.push(name) - 1);
    return typeof cost === "number" ? slice(cost) : cost;
  };
  const rows = await measure(scenarios, { ...extent, maxWarmUpSlices: 10 }, take, () => {});
  return { rows: new Map(rows.map((row) => [row.name, row])), order };
}

const raw = scenario("raw");
const get = scenario("get", "raw");
const list = scenario("list", "raw");

describe("the order of slices", () => {
  const orders: [name: string, scenarios: Scenario[], rounds: number, wanted: string][] = [
    ["a scenario alternates with its baseline, both warm", [raw, get], 1, "raw raw get get | raw get raw get raw"],
    [
      "it goes on with the same two without another warm-up",
      [raw, get],
      2,
      "raw raw get get | raw get raw get raw | raw get raw get raw",
    ],
    [
      "in a later round what lay idle has a slice that is not counted",
      [raw, get, list],
      2,
      [
        "raw raw get get | raw get raw get raw | list list | raw list raw list raw",
        "get | raw get raw get raw | list | raw list raw list raw",
      ].join(" | "),
    ],
    [
      "a baseline of another comparison runs next to its own comparison, and warms up once",
      [raw, get, scenario("create", "raw", { comparison: "writes" })],
      1,
      "raw raw get get | raw get raw get raw | create create | raw create raw create raw",
    ],
    ["what nothing is compared with is measured alone", [raw], 1, "raw raw | raw raw"],
  ];
  for (const [name, scenarios, rounds, wanted] of orders) {
    it(name, async () => {
      const { order } = await run(scenarios, { rounds, slices: 2 });
      assert.equal(order.join(" "), wanted.replaceAll(" |", ""));
    });
  }

  it("a scenario is warmed up until it stops becoming faster and has served enough requests", async () => {
    const costs = [40, 30, 25, 25];
    const { order } = await run([raw], { rounds: 1, slices: 1 }, (_, at) => costs[at] ?? 25);
    assert.equal(order.length, 4 + 1);
    const slow = await run([raw], { rounds: 1, slices: 1 }, () => slice(1000, { requestsPerSecond: 1000 }));
    assert.equal(slow.order.length, 10 + 1);
  });

  it("a scenario slower than when it was warm is warmed up again", async () => {
    const costs = new Map([90, 50, 11].map((cost, i) => [22 + i, cost]));
    const { order } = await run([raw, get, list], { rounds: 2, slices: 2 }, (_, at) => costs.get(at) ?? 10);
    assert.equal(order.slice(22).join(" "), "list list list raw list raw list raw");
  });

  it("a baseline that is not measured is rejected", async () => {
    await assert.rejects(run([get], { rounds: 1, slices: 1 }), /get: its baseline raw is not measured/);
  });
});

describe("ratios", () => {
  const cost: Record<string, number> = { raw: 10, get: 20, list: 40 };
  const machines: [name: string, slowness: (at: number) => number][] = [
    ["a machine that stays as it is", () => 1],
    ["one that becomes slower by the second", (at) => 1 + at / 20],
    ["one that is slow for a while", (at) => (at % 40 < 12 ? 1.4 : 1)],
    ["one that disturbs a slice now and then", (at) => (at % 11 === 5 ? 3 : 1)],
  ];
  for (const [name, slowness] of machines) {
    it(`${name} does not show in them`, async () => {
      const extent = { rounds: 3, slices: 3 };
      const { rows } = await run([raw, get, list], extent, (of, at) => cost[of]! * slowness(at));
      assert.deepEqual(
        [...rows.values()].map(({ ratio }) => ratio?.toFixed(6)),
        [undefined, "0.500000", "0.250000"],
      );
    });
  }

  it("the ratio of a round is the median of its slices' ratios to the mean of their neighbours", () => {
    const base = [10, 20, 10, 10].map((cpu) => slice(cpu));
    const own = [20, 20, 40].map((cpu) => slice(cpu));
    assert.equal(ratioOf({ own, base }, "cpu"), 0.75);
  });

  it("latency is compared where the scenario says so", async () => {
    const concurrent = scenario("concurrent", "raw", { gauge: "p50" });
    const { rows } = await run([raw, concurrent], { rounds: 3, slices: 3 }, (name) =>
      name === "raw" ? slice(10, { p50Ms: 1 }) : slice(Number.NaN, { p50Ms: 4 }),
    );
    assert.equal(rows.get("concurrent")?.ratio, 0.25);
  });
});

describe("rows", () => {
  it("a row has the median of the rounds' means, and the maximum of memory", async () => {
    const costs = [10, 10, 1, 2, 6, 10, 20, 30, 4, 4, 7];
    const { rows } = await run([raw], { rounds: 3, slices: 3 }, (_, at) => slice(costs[at]!, { memoryMib: 90 - at }));
    assert.equal(rows.get("raw")?.cpuMicros, 5);
    assert.equal(rows.get("raw")?.memoryMib, 88);
  });

  it("the row of a baseline comes from the slices that alternate with its scenarios", async () => {
    const { rows } = await run([raw, get], { rounds: 1, slices: 1 }, (name, at) => (name === "raw" ? at : 20));
    assert.equal(rows.get("raw")?.cpuMicros, 5);
  });

  it("the row of a scenario that is also a baseline comes from its own alternation", async () => {
    let afterCreate = false;
    const create = scenario("create", "get");
    const { rows } = await run([raw, get, create], { rounds: 1, slices: 2 }, (name) => {
      afterCreate ||= name === "create";
      return afterCreate ? 99 : 20;
    });
    assert.equal(rows.get("get")?.cpuMicros, 20);
  });
});
