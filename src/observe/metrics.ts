// Metrics for Prometheus. A start loads three modules of prom-client: all of them, with OpenTelemetry, take ten times as long.
import Gauge from "prom-client/lib/gauge.js";
import Histogram from "prom-client/lib/histogram.js";
import type Registry from "prom-client/lib/registry.js";
import type { DurationCounts } from "../base/duration-counts.ts";
import { onceLoaded } from "../base/lazy.ts";
import type { MaybePromise } from "../base/maybe-promise.ts";
import { type MetricFamily, type MetricSample, type MetricsFormat, metricsText, newRegistry } from "./metric-family.ts";
import { type ReadMetric, registerReadMetric, samplesByLabel, samplesOfDurations } from "./read-metrics.ts";

/** Process metrics start so many milliseconds after the server, or with the first scrape. */
const processMetricsDelay = 1000;

/** Processes that serve one port, and whose metrics are shown as those of one server. */
export interface SharedMetrics {
  /** Lets the other processes read the metrics of this one. */
  publish(read: () => Promise<readonly MetricFamily[]>): void;
  /** Returns the sum over all processes. */
  text(format: MetricsFormat): Promise<string>;
}

/** A call that ended. */
export interface ObservedCall {
  /** The gRPC path of its method, or the HTTP path of an endpoint outside the API. */
  readonly path: string;
  readonly transport: string;
  readonly code: string;
  readonly seconds: number;
  /** The id of its trace, if that is recorded. */
  readonly traceId: string | undefined;
}

/** The declaration of a gauge. */
export interface GaugeDefinition {
  readonly name: string;
  readonly help: string;
  /**
   * The combination of the values of several processes that serve one port: their sum, or the maximum or minimum of a value that all
   * share.
   */
  readonly combined: "sum" | "max" | "min";
}

/** The metrics of a server. */
export interface Metrics {
  /** Counts a call. */
  observeCall(call: ObservedCall): void;
  /** Registers a counter that is read with every scrape. Its name ends in `_total`. */
  counter(name: string, help: string, read: () => number): void;
  /** Registers counters with one label: `read` returns their totals by the value of the label. */
  counters(name: string, help: string, label: string, read: () => Readonly<Record<string, number>>): void;
  /** Registers a gauge that is read with every scrape. It has no series while its value is undefined. */
  gauge(definition: GaugeDefinition, read: () => MaybePromise<number | undefined>): void;
  /** Registers gauges with one label: `read` returns their values by the value of the label. */
  gauges(definition: GaugeDefinition, label: string, read: () => Readonly<Record<string, number>>): void;
  /** Registers a histogram with one label, whose durations are read with every scrape by the value of the label. */
  durations(name: string, help: string, label: string, read: () => Readonly<Record<string, DurationCounts>>): void;
  /** Returns the totals of counters with one label, by its value. */
  totals(name: string): Promise<Readonly<Record<string, number>>>;
  /** Returns the metrics as text. */
  text(format: MetricsFormat): Promise<string>;
}

/** Creates the metrics of this version of the program. Metrics of the process start a second later. */
export function newMetrics(version: string, shared?: SharedMetrics): Metrics {
  const registry = newRegistry("openmetrics");
  const measureProcess = onceLoaded(async () => {
    const { collectDefaultMetrics } = await import("prom-client");
    collectDefaultMetrics({ register: registry });
    // The package leaves it out of sums. The latest start shows that one of several processes was started again.
    Object.assign(registry.getSingleMetric("process_start_time_seconds")!, { aggregator: "max" });
  });
  // With too many open files the package cannot be loaded. The next scrape tries again, and reports the error.
  setTimeout(() => measureProcess().catch(() => {}), processMetricsDelay).unref();
  registerBuildInfo(registry, version);
  const calls = newCallHistogram(registry);
  const families = async () => {
    await measureProcess();
    return await registry.getMetricsAsJSON();
  };
  shared?.publish(families);
  const register = (definition: ReadMetric, read: () => MaybePromise<readonly MetricSample[]>) =>
    registerReadMetric(registry, definition, read);
  const text = async (format: MetricsFormat) =>
    shared ? await shared.text(format) : await metricsText(await families(), format);
  return {
    observeCall(call) {
      calls.observe({
        labels: callLabels(call),
        value: call.seconds,
        // OpenTelemetry names this label: https://opentelemetry.io/docs/specs/otel/compatibility/prometheus_and_openmetrics/#exemplars
        ...(call.traceId !== undefined && { exemplarLabels: { trace_id: call.traceId } }),
      });
    },
    counter: (name, help, read) =>
      register({ name, help, type: "counter", aggregator: "sum" }, () => [{ labels: {}, value: read() }]),
    counters: (name, help, label, read) =>
      register({ name, help, type: "counter", aggregator: "sum" }, () => samplesByLabel(label, read())),
    gauge: ({ combined, ...definition }, read) =>
      register({ ...definition, type: "gauge", aggregator: combined }, async () => {
        const value = await read();
        return value === undefined ? [] : [{ labels: {}, value }];
      }),
    gauges: ({ combined, ...definition }, label, read) =>
      register({ ...definition, type: "gauge", aggregator: combined }, () => samplesByLabel(label, read())),
    durations: (name, help, label, read) =>
      register({ name, help, type: "histogram", aggregator: "sum" }, () =>
        Object.entries(read()).flatMap(([value, durations]) => samplesOfDurations(name, { [label]: value }, durations)),
      ),
    // The text has the sums over all processes.
    totals: async (name) => totalsIn(await text("prometheus"), name),
    text,
  };
}

function callLabels({ path, transport, code }: ObservedCall) {
  const { service, method } = methodNamesOf(path);
  // The last two are deprecated: dashboards need them for one more release.
  return { rpc_service: service, rpc_method: method, transport, code, method: path, door: transport };
}

function totalsIn(text: string, name: string): Readonly<Record<string, number>> {
  const lines = text.matchAll(/^(\w+)\{\w+="([^"]*)"\} (\d+)$/gm);
  return Object.fromEntries([...lines].filter((line) => line[1] === name).map((line) => [line[2]!, Number(line[3])]));
}

/** Prometheus, "Instrumentation": facts about the program are labels of a gauge with the value 1. */
function registerBuildInfo(registry: Registry, version: string): void {
  new Gauge({
    name: "gatehouse_build_info",
    help: "1, labelled with the versions of the program and of Node.",
    labelNames: ["version", "node"],
    // It is 1 for several processes too.
    aggregator: "first",
    registers: [registry],
  }).set({ version, node: process.versions.node }, 1);
}

function newCallHistogram(registry: Registry): Histogram {
  return new Histogram({
    name: "gatehouse_call_duration_seconds",
    help: "Duration of calls by method, transport and code. The labels method and door are deprecated.",
    labelNames: ["rpc_service", "rpc_method", "transport", "code", "method", "door"],
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 2.5],
    registers: [registry],
    enableExemplars: true,
  });
}

interface MethodNames {
  readonly service: string;
  readonly method: string;
}

const methodNames = new Map<string, MethodNames>();

/** Splits the path of a method, such as `/package.Service/Method`; an endpoint has no service and is named by its whole path. */
function methodNamesOf(path: string): MethodNames {
  const known = methodNames.get(path);
  if (known) return known;
  const [, service = "", method = path] = /^\/([^/]*\.[^/]*)\/([^/]+)$/.exec(path) ?? [];
  const names = { service, method };
  methodNames.set(path, names);
  return names;
}
