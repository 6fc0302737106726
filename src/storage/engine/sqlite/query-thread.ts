// Runs statements that may take long in a thread of its own. better-sqlite3 runs a statement synchronously: on the event loop, a count of
// 100,000 rows would delay every other request.
import { readFileSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { programFile } from "../../../base/program-file.ts";
import { countThread, withoutCounting } from "../../../base/slices.ts";
import { StorageUnavailable } from "../errors.ts";

/** How many snapshots can be open at the same time. The thread runs one statement at a time. */
const connectionCount = 4;

/** Runs a statement in a snapshot. Rejects with the error of the driver. */
export type RunQuery = (sql: string, values: readonly unknown[]) => Promise<unknown[][]>;

/** The thread of one database file. */
export interface QueryThread {
  /** Runs several statements in one snapshot. Waits while too many snapshots are open. */
  read<T>(body: (run: RunQuery) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

type Reply = Rows | { readonly error: { readonly message: string; readonly code: string } };

interface Rows {
  readonly rows: unknown[][];
  /** The CPU time of the thread, in milliseconds. */
  readonly usedMs: number;
}

/** A reply that is awaited. */
interface Awaited {
  resolve(rows: Rows): void;
  reject(error: Error): void;
}

const threadFile = programFile("storage/engine/sqlite/query-thread.cjs");

/** Creates the read thread of a database file. The first read starts it. */
export function newQueryThread(file: string, pragmas: readonly string[]): QueryThread {
  const thread = new StatementThread(file, pragmas);
  return { read: (body) => thread.read(body), close: () => thread.close() };
}

class StatementThread {
  readonly #data: object;
  #worker: Worker | undefined;
  /** In the order of their statements, which is that of the replies. */
  readonly #awaited: Awaited[] = [];
  readonly #free = Array.from({ length: connectionCount }, (_, i) => i);
  readonly #waiting: ((connection: number) => void)[] = [];
  /** Called when all connections are free. Present while the thread closes. */
  #onFree: (() => void) | undefined;

  constructor(file: string, pragmas: readonly string[]) {
    this.#data = { file, pragmas, connections: connectionCount, module: import.meta.url };
  }

  async read<T>(body: (run: RunQuery) => Promise<T>): Promise<T> {
    const connection = this.#free.pop() ?? (await withoutCounting(() => this.#wait()));
    try {
      this.#requireOpen();
      const worker = this.#running();
      const end = () => this.#run(worker, { connection, sql: "COMMIT", values: [] });
      const run: RunQuery = async (sql, values) => {
        this.#requireOpen();
        return (await countThread(() => this.#run(worker, { connection, sql, values }))).rows;
      };
      await run("BEGIN", []);
      try {
        return await body(run);
      } finally {
        await end();
      }
    } finally {
      this.#release(connection);
    }
  }

  #wait(): Promise<number> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #requireOpen(): void {
    if (this.#onFree) throw new StorageUnavailable("the thread for queries ends");
  }

  #release(connection: number): void {
    const next = this.#waiting.shift();
    if (next) next(connection);
    else this.#free.push(connection);
    if (this.#free.length === connectionCount) this.#onFree?.();
  }

  async close(): Promise<void> {
    // The statements of reads that have begun fail. They end before the database is closed, which they would use otherwise.
    await new Promise<void>((resolve) => {
      this.#onFree = resolve;
      if (this.#free.length === connectionCount) resolve();
    });
    const worker = this.#worker;
    if (!worker) return;
    // It ends by itself: terminating a thread that runs native code can end the process.
    const ended = new Promise((resolve) => worker.once("exit", resolve));
    worker.ref();
    worker.postMessage("close");
    await ended;
  }

  #running(): Worker {
    try {
      this.#worker ??= this.#start();
      return this.#worker;
    } catch (error) {
      throw new StorageUnavailable("the thread for queries does not start", { cause: error });
    }
  }

  #run(worker: Worker, order: object): Promise<Rows> {
    return new Promise((resolve, reject) => {
      // A thread that has ended took the snapshots with it.
      if (worker !== this.#worker) throw new StorageUnavailable("the thread for queries ended");
      this.#awaited.push({ resolve, reject });
      worker.ref();
      worker.postMessage(order);
    });
  }

  #start(): Worker {
    // Passed as text and without variables: see checkpointer.ts.
    const worker = new Worker(readFileSync(threadFile, "utf8"), { eval: true, env: {}, workerData: this.#data });
    worker.on("message", (reply: Reply) => {
      const { resolve, reject } = this.#awaited.shift()!;
      if (this.#awaited.length === 0) worker.unref();
      if ("rows" in reply) resolve(reply);
      else reject(Object.assign(new Error(reply.error.message), { code: reply.error.code }));
    });
    worker.on("error", () => {});
    worker.on("exit", () => {
      if (this.#worker === worker) this.#worker = undefined;
      for (const { reject } of this.#awaited.splice(0)) reject(new StorageUnavailable("the thread for queries ended"));
    });
    worker.unref();
    return worker;
  }
}
