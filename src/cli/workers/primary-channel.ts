// The connection of a worker to the primary.
import cluster from "node:cluster";
import { EventEmitter, once } from "node:events";
import type { MetricFamily, MetricsFormat } from "../../observe/metric-family.ts";
import type { SharedMetrics } from "../../observe/metrics.ts";
import type { ToPrimary, ToWorker } from "./messages.ts";

type MessageOf<Kind extends ToWorker["kind"]> = Extract<ToWorker, { kind: Kind }>;

/** The connection to the primary. Disposing lets the process end. */
export interface PrimaryChannel extends Disposable {
  /** Resolves when the worker must drain: the primary says so, or has ended. */
  readonly stopped: Promise<void>;
  /** Calls the listener for each message of a kind. */
  on<Kind extends ToWorker["kind"]>(kind: Kind, listener: (message: MessageOf<Kind>) => void): void;
  /** Resolves with the next message of a kind. */
  next<Kind extends ToWorker["kind"]>(kind: Kind): Promise<MessageOf<Kind>>;
  send(message: ToPrimary): void;
}

/** Opens the connection. */
export function openPrimaryChannel(): PrimaryChannel {
  const messages = new EventEmitter();
  process.on("message", (message: ToWorker) => messages.emit(message.kind, message));
  const next: PrimaryChannel["next"] = async (kind) => (await once(messages, kind))[0];
  const stopped = Promise.withResolvers<void>();
  let isStopping = false;
  messages.once("drain", () => {
    isStopping = true;
    stopped.resolve();
  });
  process.once("disconnect", () => {
    // A second signal to stop ended the primary: the rest must not take longer.
    if (isStopping) process.kill(process.pid, "SIGKILL");
    stopped.resolve();
  });
  // By default, node:cluster ends a worker without its primary at once.
  if (cluster.worker) cluster.worker.exitedAfterDisconnect = true;
  return {
    stopped: stopped.promise,
    next,
    on: (kind, listener) => void messages.on(kind, listener),
    send(message) {
      if (process.connected) process.send?.(message, undefined, {}, () => {});
    },
    [Symbol.dispose]: () => process.channel?.unref(),
  };
}

/** Returns the metrics of all workers, which the primary adds up. */
export function sharedMetricsOf(primary: PrimaryChannel): SharedMetrics {
  const asking: Partial<Record<MetricsFormat, Promise<string>>> = {};
  const ask = async (format: MetricsFormat) => {
    let combined = primary.next("combinedMetrics");
    primary.send({ kind: "combinedMetrics", format });
    // The other format may have been asked for at the same time.
    while ((await combined).format !== format) combined = primary.next("combinedMetrics");
    return (await combined).text;
  };
  return {
    publish(read: () => Promise<readonly MetricFamily[]>) {
      primary.on("readMetrics", async () => {
        // With too many open files the metrics of the process cannot be loaded. What was read last counts then.
        const metrics = await read().catch(() => undefined);
        primary.send({ kind: "metrics", metrics });
      });
    },
    // Requests that arrive together ask once: the text is long, and anyone may ask on a port of its own.
    text(format) {
      asking[format] ??= ask(format).finally(() => {
        delete asking[format];
      });
      return asking[format];
    },
  };
}
