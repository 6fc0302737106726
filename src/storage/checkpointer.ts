// Moves what the write-ahead log holds into the database file, in a thread of its own: it flushes both files, and the event
// loop must not wait for a disk.
import { Worker } from "node:worker_threads";

export interface Checkpointer {
  /** Says that something was committed; a checkpoint follows soon. */
  afterCommit(): void;
  /**
   * What a write has to wait for once the log is long: until all of it is in the file, so that the next commit begins it
   * anew. Undefined while it is short. Writes that never pause would let it grow without end, and every read looks
   * through all of it.
   */
  room(): Promise<void> | undefined;
  close(): Promise<void>;
}

/** What a checkpoint found: pages in the log, and those of them that are in the file now. */
interface CheckpointResult {
  readonly log: number;
  readonly checkpointed: number;
}

/** How long commits gather before a checkpoint, in milliseconds. */
const intervalMs = 250;

/** How long the log may become before writes wait, in pages of 4 KiB. */
const longLogPages = 16 * 1024;

/** Makes the checkpointer of a database file. Its thread starts with the first commit. */
export function createCheckpointer(file: string, longLog = longLogPages): Checkpointer {
  let worker: Worker | undefined;
  let timer: NodeJS.Timeout | undefined;
  let pages = 0;
  const running: ((result: CheckpointResult) => void)[] = [];

  function start(): Worker {
    const started = new Worker(new URL("./checkpoint-thread.js", import.meta.url), { workerData: file });
    started.on("message", (result: CheckpointResult) => {
      pages = result.log;
      running.shift()?.(result);
    });
    // Too many open files, say. The next checkpoint tries to start it again.
    started.on("error", () => {});
    started.on("exit", () => {
      worker = undefined;
      pages = 0;
      for (const done of running.splice(0)) done({ log: 0, checkpointed: 0 });
    });
    // A listener for messages keeps the process alive.
    started.unref();
    return started;
  }

  function checkpoint(): Promise<CheckpointResult> {
    worker ??= start();
    worker.postMessage("checkpoint");
    return new Promise((done) => running.push(done));
  }

  /** While nobody writes, so that nothing comes to the log after what is moved. */
  async function empty(): Promise<void> {
    const running = checkpoint();
    // A write waits, whatever else may have ended.
    worker?.ref();
    const { log, checkpointed } = await running;
    worker?.unref();
    if (log === checkpointed) pages = 0;
  }

  return {
    afterCommit() {
      timer ??= setTimeout(() => {
        timer = undefined;
        void checkpoint();
      }, intervalMs).unref();
    },
    room: () => (pages > longLog ? empty() : undefined),
    async close() {
      clearTimeout(timer);
      if (!worker) return;
      // The thread ends by itself: one that is cut off while it loads native code takes the process with it. What the log
      // still holds goes into the file when the last connection closes.
      const thread = worker;
      const ended = new Promise((resolve) => thread.once("exit", resolve));
      thread.ref();
      thread.postMessage("close");
      await ended;
    },
  };
}
