// Metrics as data, and as text in both formats that Prometheus reads.
import type { RegistryContentType } from "prom-client";
import Registry from "prom-client/lib/registry.js";

/** One metric with its values, as prom-client writes it to JSON. */
export type MetricFamily = Awaited<ReturnType<Registry["getMetricsAsJSON"]>>[number];

/** A value of a metric. The types of the package lack the name of a sample, and its exemplar. */
export interface MetricSample {
  readonly value: number;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly metricName?: string;
  readonly exemplar?: Exemplar | null;
}

/** A call that stands for the others of its bucket. */
export interface Exemplar {
  readonly labelSet: Readonly<Record<string, string>>;
  readonly value: number;
  /** Seconds since the epoch. */
  readonly timestamp: number;
}

/**
 * A format of the metrics: the text format of Prometheus 0.0.4, which all scrapers read, or OpenMetrics 1.0, which has exemplars.
 */
export type MetricsFormat = "prometheus" | "openmetrics";

/** The media types of the formats. */
export const metricsContentTypes: Readonly<Record<MetricsFormat, RegistryContentType>> = {
  prometheus: Registry.PROMETHEUS_CONTENT_TYPE,
  openmetrics: Registry.OPENMETRICS_CONTENT_TYPE,
};

/** Creates a registry. One of OpenMetrics takes exemplars, in metrics and in what it writes. */
export function newRegistry(format: MetricsFormat): Registry {
  const registry = new Registry<RegistryContentType>();
  registry.setContentType(metricsContentTypes[format]);
  // The package has no type for registries of either format.
  return registry as unknown as Registry;
}

/** A metric without its values. */
export type FamilyDefinition = Pick<MetricFamily, "name" | "help"> & { readonly type: unknown };

/** Registers a metric whose samples `get` returns with every scrape. */
export function registerFamily(registry: Registry, definition: FamilyDefinition, get: () => Promise<object>): void {
  // The registry needs a name and this function, and no more. Metrics of prom-client would show what another scrape is just reading.
  registry.registerMetric({ ...definition, get } as unknown as Parameters<Registry["registerMetric"]>[0]);
}

/** Writes metrics in a format. */
export async function metricsText(families: readonly MetricFamily[], format: MetricsFormat): Promise<string> {
  const registry = newRegistry(format);
  for (const family of families) {
    const named = format === "openmetrics" ? withoutSuffix(family) : family;
    registerFamily(registry, named, async () => named);
  }
  return await registry.metrics();
}

/** OpenMetrics 1.0, "Counter": the family has the name without the suffix, which the registry appends to each sample. */
function withoutSuffix(family: MetricFamily): MetricFamily {
  return String(family.type) === "counter" ? { ...family, name: family.name.replace(/_total$/, "") } : family;
}
