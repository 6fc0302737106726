// The metrics of all workers, for the one that is asked for them.
import { setTimeout } from "node:timers/promises";
import { newCombinedMetrics } from "../../observe/combined-metrics.ts";
import type { RunningWorker } from "./running-worker.ts";

/** How long to wait for a busy worker, in milliseconds. What it said last counts then. */
const patienceMs = 2000;

/** The metrics of the workers. */
export interface WorkerMetrics {
  /** Sends the sum to a worker that asked for it. Concurrent requests share one look at the workers. */
  sendTo(worker: RunningWorker): void;
  /** Keeps the totals of a worker that has ended. */
  end(worker: RunningWorker): void;
}

/** Creates the metrics of the workers that the function returns. */
export function newWorkerMetrics(workers: () => readonly RunningWorker[]): WorkerMetrics {
  const combined = newCombinedMetrics();
  let reading: Promise<string> | undefined;
  const read = async (worker: RunningWorker) => {
    const metrics = await Promise.race([worker.metrics(), setTimeout(patienceMs, undefined, { ref: false })]);
    if (metrics) combined.set(worker.pid, metrics);
  };
  const sum = async () => {
    await Promise.all(workers().map(read));
    return await combined.text();
  };
  return {
    async sendTo(worker) {
      reading ??= sum().finally(() => {
        reading = undefined;
      });
      worker.send({ kind: "combinedMetrics", text: await reading });
    },
    end: ({ pid }) => combined.end(pid),
  };
}
