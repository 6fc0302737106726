import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseH2load, parseLatencies, parseWrk } from "../load-output.ts";
import { parseOptions } from "../options.ts";
import { formatTable, growth } from "../report.ts";
import { merged, type Results, regressions } from "../results.ts";
import type { Row } from "../row.ts";
import { parseSize, sizeName } from "../sizes.ts";
import { median, percentile } from "../statistics.ts";

function row(name: string, cpuMicros: number, ratio: number | null): Row {
  return { name, cpuMicros, requestsPerSecond: 1, p50Ms: 1, p99Ms: 1, memoryMib: 1, ratio, baseline: null };
}

function results(scenarios: readonly Row[], micros = 1): Results {
  const parts = { "1k": [{ name: "totalCount", micros, ratio: 1 / micros }] };
  return { node: "", processor: "", scenarios, processes: [], parts };
}

describe("the comparison with recorded results", () => {
  const recorded = results([row("raw", 20, null), row("get", 40, 0.5)]);
  const cases: [name: string, current: Results, wanted: string[]][] = [
    ["a ratio that is 10 % worse passes", results([row("get", 40, 0.45)]), []],
    [
      "a ratio that is more than 10 % worse fails",
      results([row("get", 40, 0.4)]),
      ["get: ratio 0.400, recorded 0.500: 20 % worse"],
    ],
    ["a ratio that is better passes", results([row("get", 40, 2)]), []],
    ["absolute figures are not compared", results([row("get", 4000, 0.5)]), []],
    ["what was not recorded is not compared", results([row("list", 40, 0.1)]), []],
    [
      "the parts in process are compared too",
      results([], 2),
      ["totalCount (1k): ratio 0.500, recorded 1.00: 50 % worse"],
    ],
  ];
  for (const [name, current, wanted] of cases) {
    it(name, () => assert.deepEqual(regressions(recorded, current), wanted));
  }
});

it("a partial run replaces its rows and adds new ones", () => {
  const recorded = results([row("raw", 20, null), row("get", 40, 0.5)]);
  const { scenarios } = merged(recorded, results([row("get", 30, 0.6), row("list", 80, 0.2)]));
  assert.deepEqual(
    scenarios.map(({ name, cpuMicros }) => `${name} ${cpuMicros}`),
    ["raw 20", "get 30", "list 80"],
  );
});

describe("the output of the load generators", () => {
  it("wrk: the last line has the result", () => {
    const line = '{"requests":100,"failed":2,"micros":2000000,"p50Micros":500,"p99Micros":1500}';
    const wanted = { requests: 100, failed: 2, seconds: 2, p50Ms: 0.5, p99Ms: 1.5 };
    assert.deepEqual(parseWrk(`Running 1s test\n  Thread Stats\n\n${line}\n`), wanted);
  });

  it("wrk: an output without a result throws", () => {
    assert.throws(() => parseWrk("unable to connect"), /wrk: printed no result: unable to connect/);
  });

  it("h2load: responses other than 2xx count as failed", () => {
    const output = [
      "requests: 110 total, 110 started, 100 done, 100 succeeded, 0 failed, 0 errored, 0 timeout",
      "status codes: 97 2xx, 0 3xx, 3 4xx, 0 5xx",
    ].join("\n");
    assert.deepEqual(parseH2load(output), { requests: 100, failed: 3 });
  });

  it("h2load: the log holds microseconds in its third column", () => {
    const log = Array.from({ length: 100 }, (_, i) => `1700000000\t200\t${(i + 1) * 1000}\n`).join("");
    assert.deepEqual(parseLatencies(log), { p50Ms: 50, p99Ms: 99 });
  });
});

describe("statistics", () => {
  it("the median of an even number is the mean of the middle two", () => assert.equal(median([4, 1, 3, 2]), 2.5));
  it("the median of an odd number is the middle one", () => assert.equal(median([9, 1, 3]), 3));
  it("a percentile is one of the values", () => assert.equal(percentile([1, 2, 3, 4], 50), 2));
});

describe("the report", () => {
  it("compares CPU time with the smallest size that was measured", () => {
    const rows = [row("get 1k", 10, 1), row("get 1M", 12, 1), row("create", 5, 1)];
    assert.deepEqual(growth(rows), [["get", "1.00x", "1.20x"]]);
  });

  it("aligns columns", () => assert.equal(formatTable(["", "µs"], [["get", "1.0"]]), "      µs\nget  1.0"));
});

describe("the command line", () => {
  it("sizes are numbers, with k and M", () => {
    assert.deepEqual(["1k", "100k", "1M", "5000"].map(parseSize), [1000, 100_000, 1_000_000, 5000]);
    assert.deepEqual([1000, 1_000_000, 5500].map(sizeName), ["1k", "1M", "5500"]);
  });

  it("a full run records all rows, and a partial one its own rows on request", () => {
    const recorded = (...args: string[]) => parseOptions(args)?.record;
    assert.deepEqual([recorded(), recorded("--peers"), recorded("--database", "postgres")], ["all", "all", "all"]);
    const part = [
      ["--sizes", "1k"],
      ["--only", "list"],
    ];
    for (const args of [["--quick"], ["--compare"], ...part]) assert.equal(recorded(...args), "nothing");
    for (const args of part) assert.equal(recorded(...args, "--record"), "measured");
  });

  it("each suite has its sizes", () => {
    const sizes = (...args: string[]) => parseOptions(args)?.sizes.map(sizeName).join();
    assert.equal(sizes(), "1k,100k,1M");
    assert.equal(sizes("--quick"), "1k,100k");
    assert.equal(sizes("--database", "postgres"), "1k,1M");
    assert.equal(sizes("--scale"), "10k,10M");
    assert.equal(sizes("--sizes", "2k,3k"), "2k,3k");
  });

  for (const [args, message] of [
    [["--sizes", "10"], /--sizes: "10" is not a size/],
    [["--fast"], /--fast/],
    [["--database", "mysql"], /--database: "mysql" is not postgres/],
    [["--peers", "--scale"], /only one of them/],
    [["--peers", "--sizes", "1k"], /--sizes: peers has sizes of its own/],
    [["--quick", "--record"], /--record: neither --quick nor --compare/],
  ] as const) {
    it(`${args.join(" ")} is refused`, () => assert.throws(() => parseOptions([...args]), message));
  }
});
