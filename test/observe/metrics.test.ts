// Tests the format of metrics, and their addition.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { DurationCounts, durationBounds } from "../../src/base/duration-counts.ts";
import { newCombinedMetrics } from "../../src/observe/combined-metrics.ts";
import { type MetricFamily, metricsText } from "../../src/observe/metric-family.ts";
import { type Metrics, newMetrics } from "../../src/observe/metrics.ts";
import { metricsFormatFor } from "../../src/server/metrics/metrics-format.ts";

const prometheus = "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75";

describe("the format of metrics", () => {
  const cases: readonly [accept: string | undefined, format: string][] = [
    [undefined, "prometheus"],
    ["", "prometheus"],
    ["*/*", "prometheus"],
    ["text/html,*/*;q=0.8", "prometheus"],
    [`${prometheus},text/plain;version=0.0.4;q=0.5,*/*;q=0.1`, "openmetrics"],
    ["Application/OpenMetrics-Text", "openmetrics"],
    ["text/plain;q=0.5, application/openmetrics-text;q=0.4", "prometheus"],
    ["text/plain, application/openmetrics-text", "openmetrics"],
    ["application/openmetrics-text;q=0", "prometheus"],
    ["application/openmetrics-text;q=much,", "prometheus"],
  ];
  for (const [accept, format] of cases)
    it(`${accept ?? "no Accept header"}: ${format}`, () => assert.equal(metricsFormatFor(accept), format));
});

const call = { path: "/a.B/C", transport: "grpc", code: "OK", seconds: 0.002, traceId: undefined };

/** Returns the lines about a metric. */
async function linesOf(metrics: Metrics, name: string, format: "prometheus" | "openmetrics" = "prometheus") {
  return (await metrics.text(format)).split("\n").filter((line) => !line.startsWith("# HELP") && line.includes(name));
}

describe("metrics", () => {
  it("a histogram counts a duration in its bucket and in all larger ones", async () => {
    const metrics = newMetrics("1");
    const durations = new DurationCounts();
    // Began two seconds ago, and in the future: the clock of `performance` does not go back, and a sum must not either.
    durations.recordSince(performance.now() - 2000);
    metrics.durations("steps_seconds", "Steps.", "kind", () => ({ long: durations }));
    const lines = await linesOf(metrics, "steps_seconds");
    assert.equal(lines[0], "# TYPE steps_seconds histogram");
    const counts = lines.filter((line) => line.includes("_bucket")).map((line) => Number(line.split(" ").at(-1)));
    assert.deepEqual(counts, [...durationBounds.map((bound) => (bound > 2 ? 1 : 0)), 1]);
    assert.ok(lines.includes('steps_seconds_bucket{le="+Inf",kind="long"} 1'));
    assert.match(lines.join("\n"), /_sum\{kind="long"\} 2\.\d+\nsteps_seconds_count\{kind="long"\} 1$/);
  });

  it("a gauge without a value has no series", async () => {
    const metrics = newMetrics("1");
    let value: number | undefined;
    metrics.gauge({ name: "depth", help: "Depth.", combined: "max" }, async () => value);
    assert.deepEqual(await linesOf(metrics, "depth"), ["# TYPE depth gauge"]);
    value = 0;
    assert.deepEqual(await linesOf(metrics, "depth"), ["# TYPE depth gauge", "depth 0"]);
  });

  it("have the same names of samples in both formats, and end as OpenMetrics demands", async () => {
    const metrics = newMetrics("1");
    metrics.counters("ends_total", "Ends.", "outcome", () => ({ good: 3 }));
    assert.deepEqual(await linesOf(metrics, "ends"), ["# TYPE ends_total counter", 'ends_total{outcome="good"} 3']);
    const open = await linesOf(metrics, "ends", "openmetrics");
    assert.deepEqual(open, ["# TYPE ends counter", 'ends_total{outcome="good"} 3']);
    assert.match(await metrics.text("openmetrics"), /\n# EOF\n$/);
  });

  it("have an exemplar only for a recorded call, and only in OpenMetrics", async () => {
    const metrics = newMetrics("1");
    metrics.observeCall({ ...call, traceId: "a".repeat(32) });
    metrics.observeCall(call);
    const open = await linesOf(metrics, "trace_id", "openmetrics");
    assert.equal(open.length, 1);
    assert.match(open[0]!, /le="0.0025".* 2 # \{trace_id="a{32}"\} 0\.002 \d+(\.\d+)?$/);
    assert.deepEqual(await linesOf(metrics, "trace_id"), []);
  });
});

describe("metrics of several processes", () => {
  it("have the latest exemplar, and what is the same for all once", async () => {
    const combined = newCombinedMetrics();
    for (const pid of [1, 2]) {
      const published: (() => Promise<readonly MetricFamily[]>)[] = [];
      const metrics = newMetrics("1", { publish: (read) => published.push(read), text: async () => "" });
      metrics.gauge({ name: "size", help: "Size.", combined: "max" }, () => 100 + pid);
      metrics.gauge({ name: "expiry", help: "Expiry.", combined: "min" }, () => 100 + pid);
      metrics.gauge({ name: "open", help: "Open.", combined: "sum" }, () => pid);
      const durations = new DurationCounts();
      durations.recordSince(performance.now());
      metrics.durations("steps_seconds", "Steps.", "kind", () => ({ short: durations }));
      metrics.observeCall({ ...call, traceId: String(pid).repeat(32) });
      const families = await published[0]!();
      const startTime = families.find(({ name }) => name === "process_start_time_seconds")!;
      Object.assign(startTime, { values: [{ labels: {}, value: pid }] });
      combined.set(pid, families);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    const families = await combined.families();
    const text = await metricsText(families, "openmetrics");
    for (const line of ["size 102", "expiry 101", "open 3", "process_start_time_seconds 2"])
      assert.match(text, new RegExp(`^${line}$`, "m"));
    assert.match(text, /^steps_seconds_count\{kind="short"\} 2$/m);
    assert.match(text, /le="0.0025".* 2 # \{trace_id="2{32}"\}/);
    assert.doesNotMatch(text, /1{32}/);
    combined.end(2);
    assert.doesNotMatch(await metricsText(await combined.families(), "prometheus"), /trace_id|size 102/);
  });
});
