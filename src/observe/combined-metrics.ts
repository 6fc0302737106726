// Adds up the metrics of several processes that serve one port.
import AggregatorRegistry from "prom-client/lib/cluster.js";
import type { MetricFamily } from "./metrics.ts";

/** The metrics of processes, which may end. */
export interface CombinedMetrics {
  /** Replaces what is known of a process. */
  set(pid: number, metrics: readonly MetricFamily[]): void;
  /** Keeps the totals of a process that has ended: without them the sum would sink, as if counters had started again. */
  end(pid: number): void;
  /** Returns the sum in the text format of Prometheus. Runs once at a time. */
  text(): Promise<string>;
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
    async text() {
      const before = ended;
      // One set of totals for all that have ended, however many.
      const totals = await aggregate(before).getMetricsAsJSON();
      ended = [totals, ...ended.slice(before.length)];
      // The running processes first: the aggregator "first" takes their value.
      return await aggregate([...running.values(), ...ended]).metrics();
    },
  };
}

function aggregate(processes: readonly (readonly MetricFamily[])[]) {
  // The parameter is declared without the type of its members.
  return AggregatorRegistry.aggregate([...processes] as object[]);
}

/** A gauge says how something is now, which nothing is after the end. */
function isTotal({ type }: MetricFamily): boolean {
  return ["counter", "histogram"].includes(String(type));
}
