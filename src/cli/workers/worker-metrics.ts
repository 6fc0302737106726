// The metrics of all workers, for the one that is asked for them.
import { setTimeout } from "node:timers/promises";
import { newCombinedMetrics } from "../../observe/combined-metrics.ts";
import { type MetricFamily, type MetricsFormat, metricsText } from "../../observe/metric-family.ts";
import type { RunningWorker } from "./running-worker.ts";

/** The time to wait for a busy worker, in milliseconds. After that, its last metrics count. */
const patienceMs = 2000;

/** The metrics of the workers. */
export interface WorkerMetrics {
  /** Sends the sum to a worker that asked for it. Concurrent requests share one look at the workers. */
  sendTo(worker: RunningWorker, format: MetricsFormat): void;
  /** Keeps the totals of a worker that has ended. */
  end(worker: RunningWorker): void;
}

/** Creates the metrics of the workers that the function returns. */
export function newWorkerMetrics(workers: () => readonly RunningWorker[]): WorkerMetrics {
  const combined = newCombinedMetrics();
  let reading: Promise<readonly MetricFamily[]> | undefined;
  const read = async (worker: RunningWorker) => {
    const metrics = await Promise.race([worker.metrics(), setTimeout(patienceMs, undefined, { ref: false })]);
    if (metrics) combined.set(worker.pid, metrics);
  };
  const sum = async () => {
    await Promise.all(workers().map(read));
    return await combined.families();
  };
  return {
    async sendTo(worker, format) {
      reading ??= sum().finally(() => {
        reading = undefined;
      });
      const text = await metricsText(await reading, format);
      worker.send({ kind: "combinedMetrics", format, text });
    },
    end: ({ pid }) => combined.end(pid),
  };
}
