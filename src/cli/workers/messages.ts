// The messages between the primary process and its workers.
import type { RawSettings } from "../../config/settings.ts";
import type { MetricFamily, MetricsFormat } from "../../observe/metric-family.ts";

/** A message of the primary. */
export type ToWorker =
  /**
   * The first message: the settings, with a log format other than auto, and the key by which the workers know each other. The worker
   * cannot read a file that is a pipe.
   */
  | { readonly kind: "start"; readonly settings: RawSettings; readonly key: string }
  /** The response to `prepared`: the worker may listen. */
  | { readonly kind: "open" }
  | { readonly kind: "reload"; readonly settings: RawSettings }
  | { readonly kind: "announceStop" }
  | { readonly kind: "drain" }
  /** Asks for the metrics of the worker. */
  | { readonly kind: "readMetrics" }
  /** The response to `combinedMetrics`. */
  | { readonly kind: "combinedMetrics"; readonly format: MetricsFormat; readonly text: string };

/** A message of a worker. */
export type ToPrimary =
  /** The worker has opened its database, and could listen. */
  | { readonly kind: "prepared" }
  /** The worker serves; `summary` is the text for its start. */
  | { readonly kind: "listening"; readonly summary: string }
  /** The response to `reload`; `problem` says why nothing was reloaded. */
  | { readonly kind: "reloaded"; readonly problem: string | undefined }
  /** The response to `readMetrics`; without metrics if they could not be read. */
  | { readonly kind: "metrics"; readonly metrics: readonly MetricFamily[] | undefined }
  /** Asks for the sum of the metrics of all workers. */
  | { readonly kind: "combinedMetrics"; readonly format: MetricsFormat };

/** The variable with the number of a worker, set by the primary. */
export const workerVariable = "GATEHOUSE_WORKER_NUMBER";

/** Returns the number of this worker; undefined if this process is not a worker. Child processes do not inherit it. */
export function takeWorkerNumber(environment: NodeJS.ProcessEnv): number | undefined {
  // A person who sets the variable learns that it is not a setting.
  if (!process.connected) return undefined;
  const number = Number(environment[workerVariable]) || undefined;
  delete environment[workerVariable];
  return number;
}
