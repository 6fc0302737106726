// Adds up the metrics of several processes that serve one port.
import AggregatorRegistry from "prom-client/lib/cluster.js";
import type { Exemplar, MetricFamily, MetricSample } from "./metric-family.ts";

/** The metrics of processes, which may end. */
export interface CombinedMetrics {
  /** Replaces the metrics of a process. */
  set(pid: number, metrics: readonly MetricFamily[]): void;
  /** Keeps the totals of a process that has ended: without them the sum would sink, as if counters had started again. */
  end(pid: number): void;
  /** Returns the sum. Runs once at a time. */
  families(): Promise<readonly MetricFamily[]>;
}

/** Creates the sum of no processes yet. */
export function newCombinedMetrics(): CombinedMetrics {
  const running = new Map<number, readonly MetricFamily[]>();
  let ended: readonly (readonly MetricFamily[])[] = [];
  return {
    set(pid, metrics) {
      running.set(pid, metrics);
    },
    end(pid) {
      ended = [...ended, (running.get(pid) ?? []).filter(isTotal)];
      running.delete(pid);
    },
    async families() {
      const before = ended;
      // One set of totals for all that have ended, however many.
      const totals = await aggregate(before).getMetricsAsJSON();
      ended = [totals, ...ended.slice(before.length)];
      // The running processes first: the aggregator "first" takes their value.
      const all = [...running.values(), ...ended];
      return withExemplars(await aggregate(all).getMetricsAsJSON(), all);
    },
  };
}

function aggregate(processes: readonly (readonly MetricFamily[])[]) {
  // The parameter is declared without the type of its members.
  return AggregatorRegistry.aggregate([...processes] as object[]);
}

/** Adds the latest exemplar of each bucket, which prom-client leaves out of the sum. */
function withExemplars(
  families: readonly MetricFamily[],
  processes: readonly (readonly MetricFamily[])[],
): readonly MetricFamily[] {
  const latest = new Map<string, Exemplar>();
  for (const sample of processes.flat().flatMap(samplesOf)) {
    const { exemplar } = sample;
    if (exemplar && (latest.get(keyOf(sample))?.timestamp ?? 0) < exemplar.timestamp)
      latest.set(keyOf(sample), exemplar);
  }
  if (latest.size === 0) return families;
  return families.map((family) => {
    const values = samplesOf(family).map((sample) => ({ ...sample, exemplar: latest.get(keyOf(sample)) ?? null }));
    return { ...family, values } as unknown as MetricFamily;
  });
}

function samplesOf(family: MetricFamily): readonly MetricSample[] {
  return family.values as unknown as readonly MetricSample[];
}

function keyOf({ metricName, labels }: MetricSample): string {
  return JSON.stringify([metricName, Object.entries(labels).sort()]);
}

/** A gauge says how something is now, which nothing is after the end. */
function isTotal({ type }: MetricFamily): boolean {
  return ["counter", "histogram"].includes(String(type));
}
