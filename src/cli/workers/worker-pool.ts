// The workers of a server: starts them, replaces those that end, and stops them.
import { randomBytes } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import type { Logger } from "pino";
import type { RawSettings } from "../../config/settings.ts";
import { CommandFailure } from "../failure.ts";
import type { LineOutput } from "./log-relay.ts";
import type { ToWorker } from "./messages.ts";
import { newRestartPolicy, type RestartPolicy } from "./restart-policy.ts";
import { type Ending, type RunningWorker, setUpWorkers, startWorker, WorkerEnded } from "./running-worker.ts";
import { newWorkerMetrics } from "./worker-metrics.ts";

/** Options of a pool. */
export interface WorkerPoolOptions {
  readonly count: number;
  readonly settings: RawSettings;
  readonly log: Logger;
  readonly output: LineOutput;
}

/** The workers of a server. */
export class WorkerPool {
  readonly #options: WorkerPoolOptions;
  readonly #running = new Map<number, RunningWorker>();
  readonly #metrics = newWorkerMetrics(() => [...this.#running.values()]);
  readonly #failed = Promise.withResolvers<never>();
  readonly #stopping = new AbortController();
  readonly #key = randomBytes(32).toString("hex");
  #settings: RawSettings;

  constructor(options: WorkerPoolOptions) {
    this.#options = options;
    this.#settings = options.settings;
    // Nobody may be waiting for it.
    this.#failed.promise.catch(() => {});
    setUpWorkers();
  }

  /** Rejects with a CommandFailure if the workers cannot be kept running. */
  get failed(): Promise<never> {
    return this.#failed.promise;
  }

  /** Starts the workers. Resolves with the summary of the start once all of them serve. */
  async start(): Promise<string> {
    // The first one alone: it creates or migrates the database, and reports what is wrong with the settings.
    const first = await this.#prepareFirst(1);
    const others = Array.from({ length: this.#options.count - 1 }, (_, index) => this.#prepareFirst(index + 2));
    const workers = [first, ...(await Promise.all(others))];
    // All at once: node:cluster closes the port when the only worker that listens ends.
    const [summary] = await Promise.all(workers.map((worker) => this.#open(worker)));
    return summary!;
  }

  /** Applies the settings to all workers, one after the other. Returns why one could not, and leaves the rest as they are. */
  async reload(settings: RawSettings): Promise<string | undefined> {
    const before = this.#settings;
    // For workers that are started meanwhile.
    this.#settings = settings;
    for (const worker of this.#running.values()) {
      const problem = await worker.reload(settings);
      if (problem === undefined) continue;
      this.#settings = before;
      return problem;
    }
    return undefined;
  }

  /** Tells all workers that the server is about to stop. */
  announceStop(): void {
    this.#sendAll({ kind: "announceStop" });
  }

  /** Drains all workers, and resolves once they have ended. Starts no more. */
  async drain(): Promise<void> {
    this.#stopping.abort();
    this.#sendAll({ kind: "drain" });
    await Promise.all(Array.from(this.#running.values(), ({ ended }) => ended));
  }

  #sendAll(message: ToWorker): void {
    for (const worker of this.#running.values()) worker.send(message);
  }

  /** Starts a worker up to its port. Rejects if it ends before. */
  async #prepareFirst(number: number): Promise<RunningWorker> {
    const worker = this.#startOne(number);
    await Promise.race([worker.prepared, failureOf(worker)]);
    return worker;
  }

  /** Lets a worker listen. Rejects if it ends before it serves. */
  async #open(worker: RunningWorker): Promise<string> {
    worker.send({ kind: "open" });
    const summary = await Promise.race([worker.listening, failureOf(worker)]);
    void this.#keepRunning(worker, newRestartPolicy());
    return summary;
  }

  #startOne(number: number): RunningWorker {
    const worker = startWorker({
      number,
      settings: this.#settings,
      key: this.#key,
      output: this.#options.output,
      onMetricsWanted: this.#metrics.sendTo,
    });
    this.#running.set(number, worker);
    void worker.ended.then(() => {
      this.#metrics.end(worker);
      if (this.#running.get(number) === worker) this.#running.delete(number);
    });
    return worker;
  }

  /** Starts a worker again whenever it ends, until the pool stops or the worker keeps ending. */
  async #keepRunning(first: RunningWorker, restarts: RestartPolicy): Promise<void> {
    const { log } = this.#options;
    const { signal } = this.#stopping;
    for (let worker = first; ; ) {
      const ending = await worker.ended;
      if (signal.aborted) return;
      const delayMs = restarts.delayAfter(ending.livedMs);
      const line = { worker: worker.number, workerPid: worker.pid, ...ending };
      if (delayMs === undefined) {
        log.fatal(line, "a worker keeps ending; stopping");
        return this.#failed.reject(crashLoop(worker, ending, restarts));
      }
      log.error({ ...line, delayMs }, "a worker ended; starting another");
      await setTimeout(delayMs, undefined, { signal }).catch(() => {});
      if (signal.aborted) return;
      worker = this.#startOne(worker.number);
      void worker.prepared.then(() => worker.send({ kind: "open" }));
    }
  }
}

/** Rejects when a worker has ended, and never resolves. */
function failureOf(worker: RunningWorker): Promise<never> {
  const failed = worker.ended.then((ending) => {
    throw startFailure(worker, ending);
  });
  // It may end when nothing waits for it any more.
  failed.catch(() => {});
  return failed;
}

function startFailure({ number }: RunningWorker, ending: Ending): WorkerEnded {
  return new WorkerEnded(`worker ${number} ended by ${howEnded(ending)} before it served`, ending);
}

function crashLoop({ number }: RunningWorker, ending: Ending, { earlyEnds }: RestartPolicy): CommandFailure {
  const ends = `ended ${earlyEnds} times in a row soon after its start, last by ${howEnded(ending)}`;
  return new CommandFailure(`worker ${number} ${ends}`, { hint: "Its lines in the log say why." });
}

function howEnded({ code, signal }: Ending): string {
  return signal === undefined ? `exit code ${code}` : `the signal ${signal}`;
}
