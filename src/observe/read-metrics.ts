// Metrics whose values are kept elsewhere, and read with every scrape.
import type Registry from "prom-client/lib/registry.js";
import { type DurationCounts, durationBounds } from "../base/duration-counts.ts";
import type { MaybePromise } from "../base/maybe-promise.ts";
import { type MetricSample, registerFamily } from "./metric-family.ts";

/** A metric without its values. */
export interface ReadMetric {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge" | "histogram";
  /** The aggregation of the values of several processes (prom-client/lib/metricAggregators.js). */
  readonly aggregator: "sum" | "max" | "min";
}

/** Registers a metric whose samples `read` returns. */
export function registerReadMetric(
  registry: Registry,
  definition: ReadMetric,
  read: () => MaybePromise<readonly MetricSample[]>,
): void {
  registerFamily(registry, definition, async () => ({ ...definition, values: await read() }));
}

/** Returns a sample for each value of a label. */
export function samplesByLabel(label: string, values: Readonly<Record<string, number>>): readonly MetricSample[] {
  return Object.entries(values).map(([name, value]) => ({ labels: { [label]: name }, value }));
}

/** Returns the samples of a histogram. */
export function samplesOfDurations(
  name: string,
  labels: MetricSample["labels"],
  { counts, sum }: DurationCounts,
): readonly MetricSample[] {
  let total = 0;
  const buckets = counts.map((count, i) => {
    total += count;
    return { metricName: `${name}_bucket`, labels: { le: durationBounds[i] ?? "+Inf", ...labels }, value: total };
  });
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: total },
  ];
}
