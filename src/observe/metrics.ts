// Metrics for Prometheus. A start loads four modules of prom-client: all of them, with OpenTelemetry, take ten times as long.
import Counter from "prom-client/lib/counter.js";
import Gauge from "prom-client/lib/gauge.js";
import Histogram from "prom-client/lib/histogram.js";
import Registry from "prom-client/lib/registry.js";
import { onceLoaded } from "../base/lazy.ts";

/** Process metrics start so many milliseconds after the server, or with the first scrape. */
const processMetricsDelay = 1000;

/** One metric with its values, as prom-client writes it to JSON. */
export type MetricFamily = Awaited<ReturnType<Registry["getMetricsAsJSON"]>>[number];

/** Processes that serve one port, and whose metrics are shown as those of one server. */
export interface SharedMetrics {
  /** Lets the other processes read the metrics of this one. */
  publish(read: () => Promise<readonly MetricFamily[]>): void;
  /** Returns the sum over all processes, in the text format of Prometheus. */
  text(): Promise<string>;
}

/** The metrics of a server. */
export interface Metrics {
  /** Counts a call. `path` is the gRPC path of its method, or the HTTP path of an endpoint outside the API. */
  observeCall(path: string, transport: string, code: string, seconds: number): void;
  /** Registers a counter that is read with every scrape. Its name ends in `_total`. */
  counter(name: string, help: string, read: () => number): void;
  /** Registers counters with one label: `read` returns their totals by the value of the label. */
  counters(name: string, help: string, label: string, read: () => Readonly<Record<string, number>>): void;
  /** Returns the totals of counters with one label, by its value. */
  totals(name: string): Promise<Readonly<Record<string, number>>>;
  /** Returns the metrics in the text format of Prometheus. */
  text(): Promise<string>;
  readonly contentType: string;
}

/** Creates the metrics of this version of the program. Metrics of the process start a second later. */
export function newMetrics(version: string, shared?: SharedMetrics): Metrics {
  const registry = new Registry();
  const measureProcess = onceLoaded(async () => {
    const { collectDefaultMetrics } = await import("prom-client");
    collectDefaultMetrics({ register: registry });
  });
  // With too many open files the package cannot be loaded. The next scrape tries again, and reports the error.
  setTimeout(() => measureProcess().catch(() => {}), processMetricsDelay).unref();
  registerBuildInfo(registry, version);
  const calls = newCallHistogram(registry);
  shared?.publish(async () => {
    await measureProcess();
    return await registry.getMetricsAsJSON();
  });
  const text = async () => {
    if (shared) return await shared.text();
    await measureProcess();
    return await registry.metrics();
  };
  return {
    observeCall(path, transport, code, seconds) {
      const { service, method } = methodNamesOf(path);
      // The last two are deprecated: dashboards need them for one more release.
      const labels = { rpc_service: service, rpc_method: method, transport, code, method: path, door: transport };
      calls.observe(labels, seconds);
    },
    counter: (name, help, read) => registerCounters(registry, { name, help }, (counter) => counter.inc(read())),
    counters(name, help, label, read) {
      registerCounters(registry, { name, help, labelNames: [label] }, (counter) => {
        for (const [value, number] of Object.entries(read())) counter.inc({ [label]: value }, number);
      });
    },
    // The text has the sums over all processes.
    totals: async (name) => totalsIn(await text(), name),
    text,
    contentType: registry.contentType,
  };
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
  });
}

/** Registers a counter whose value `fill` sets before every scrape. */
function registerCounters(
  registry: Registry,
  definition: { readonly name: string; readonly help: string; readonly labelNames?: string[] },
  fill: (counter: Counter) => void,
): void {
  new Counter({
    ...definition,
    registers: [registry],
    collect() {
      this.reset();
      fill(this);
    },
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
