// One worker process, as the primary sees it.
import cluster, { type Worker } from "node:cluster";
import { EventEmitter, once } from "node:events";
import type { Readable } from "node:stream";
import type { MetricFamily, MetricsFormat } from "../../observe/metric-family.ts";
import { type LineOutput, relayLines } from "./log-relay.ts";
import { type ToPrimary, type ToWorker, workerVariable } from "./messages.ts";
import { closeUntakenConnections } from "./untaken-connections.ts";

/** The exit of a process. */
export interface Ending {
  /** Undefined if a signal ended it. */
  readonly code: number | undefined;
  readonly signal: string | undefined;
  readonly livedMs: number;
}

/** A worker that ended although it should run. */
export class WorkerEnded extends Error {
  override readonly name = "WorkerEnded";
  readonly ending: Ending;

  constructor(message: string, ending: Ending) {
    super(message);
    this.ending = ending;
  }
}

/** A worker process. */
export interface RunningWorker {
  readonly number: number;
  readonly pid: number;
  /** Resolves once the worker could listen, and waits for `open`; never if it ends before. */
  readonly prepared: Promise<void>;
  /** Resolves with the summary for the start once the worker serves; never if it ends before. */
  readonly listening: Promise<string>;
  /** Resolves once the process has ended and its log was passed on. */
  readonly ended: Promise<Ending>;
  send(message: ToWorker): void;
  /** Reloads the settings. Returns why that failed; undefined if it did not, or the worker has ended. */
  reload(settings: Extract<ToWorker, { kind: "reload" }>["settings"]): Promise<string | undefined>;
  /** Reads the metrics; undefined if the worker has ended. */
  metrics(): Promise<readonly MetricFamily[] | undefined>;
}

/** The options for starting a worker. */
export interface WorkerOptions {
  readonly number: number;
  readonly settings: Extract<ToWorker, { kind: "start" }>["settings"];
  /** The key that the workers of one primary share. */
  readonly key: string;
  readonly output: LineOutput;
  /** Called when the worker asks for the metrics of all. */
  readonly onMetricsWanted: (worker: RunningWorker, format: MetricsFormat) => void;
}

/** MiB, for new objects: half of what a single process has (gatehouse.js), since each worker gets a part of the requests. */
const youngGeneration = "--max-semi-space-size=4";

/** Makes workers run `gatehouse serve`. Call it before the first worker. */
export function setUpWorkers(): void {
  cluster.setupPrimary({
    // The settings come by message: the list of processes shows arguments.
    args: ["serve"],
    execArgv: [...process.execArgv, youngGeneration],
    stdio: ["ignore", "inherit", "pipe", "ipc"],
  });
}

/** Starts a worker. */
export function startWorker({ number, settings, key, output, onMetricsWanted }: WorkerOptions): RunningWorker {
  const startedAt = performance.now();
  const worker = cluster.fork({ [workerVariable]: String(number) });
  closeUntakenConnections(worker);
  const messages = new EventEmitter();
  worker.on("message", (message: ToPrimary) => messages.emit(message.kind, message));
  const next = async <Kind extends ToPrimary["kind"]>(kind: Kind): Promise<Extract<ToPrimary, { kind: Kind }>> =>
    (await once(messages, kind))[0];
  const ended = endOf(worker, output, startedAt);
  const send = (message: ToWorker) => {
    // It fails if the worker has just ended, which `ended` reports.
    if (worker.isConnected()) worker.send(message, undefined, () => {});
  };
  const orEnd = <T>(promise: Promise<T>) => Promise.race([promise, ended.then(() => undefined)]);
  const running: RunningWorker = {
    number,
    pid: worker.process.pid ?? 0,
    prepared: next("prepared").then(() => {}),
    listening: next("listening").then(({ summary }) => summary),
    ended,
    send,
    async reload(changed) {
      const reloaded = next("reloaded");
      send({ kind: "reload", settings: changed });
      return (await orEnd(reloaded))?.problem;
    },
    async metrics() {
      const read = next("metrics");
      send({ kind: "readMetrics" });
      return (await orEnd(read))?.metrics;
    },
  };
  messages.on("combinedMetrics", ({ format }) => onMetricsWanted(running, format));
  send({ kind: "start", settings, key });
  return running;
}

async function endOf(worker: Worker, output: LineOutput, startedAt: number): Promise<Ending> {
  // A process that cannot be started has no streams.
  const log = worker.process.stderr ? relayLines(worker.process.stderr as Readable, output) : Promise.resolve();
  const [code, signal] = await once(worker, "exit");
  const livedMs = Math.round(performance.now() - startedAt);
  await log.catch(() => {});
  return { code: code ?? undefined, signal: signal ?? undefined, livedMs };
}
