// The metrics of several processes, added up.
import assert from "node:assert/strict";
import { it } from "node:test";
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import { newCombinedMetrics } from "../../src/observe/combined-metrics.ts";
import { metricsText } from "../../src/observe/metric-family.ts";

/** Returns the metrics of a process that has counted so much. */
async function metricsOf(count: number) {
  const registers = [new Registry()];
  new Counter({ name: "calls_total", help: "Calls.", labelNames: ["code"], registers }).inc({ code: "OK" }, count);
  new Gauge({ name: "open", help: "Open.", registers }).set(count);
  new Gauge({ name: "build", help: "Build.", registers, aggregator: "first" }).set(1);
  new Histogram({ name: "seconds", help: "Seconds.", buckets: [1], registers }).observe(count);
  return await registers[0]!.getMetricsAsJSON();
}

it("adds up, and keeps the totals of processes that have ended", async () => {
  const combined = newCombinedMetrics();
  const lines = async () =>
    (await metricsText(await combined.families(), "prometheus"))
      .split("\n")
      .filter((line) => /^(calls|open|build|seconds_(count|sum))/.test(line));
  combined.set(1, await metricsOf(2));
  combined.set(2, await metricsOf(3));
  const both = ['calls_total{code="OK"} 5', "open 5", "build 1", "seconds_sum 5", "seconds_count 2"];
  assert.deepEqual(await lines(), both);
  combined.end(1);
  assert.deepEqual(await lines(), [both[0], "open 3", "build 1", ...both.slice(3)]);
  combined.end(2);
  combined.end(7);
  combined.set(3, await metricsOf(10));
  for (let i = 0; i < 3; i++)
    assert.deepEqual((await lines()).toSorted(), [
      "build 1",
      'calls_total{code="OK"} 15',
      "open 10",
      "seconds_count 3",
      "seconds_sum 15",
    ]);
});
