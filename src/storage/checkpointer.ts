// Moves what the write-ahead log holds into the database file, in a thread of its own: it flushes both files, and the event
// loop must not wait for a disk.
import { Worker } from "node:worker_threads";

export interface Checkpointer {
  /** Says that something was committed; a checkpoint follows soon. */
  afterCommit(): void;
  close(): Promise<void>;
}

/** How long commits gather before a checkpoint, in milliseconds. */
const intervalMs = 250;

/** Makes the checkpointer of a database file. Its thread starts with the first commit. */
export function createCheckpointer(file: string): Checkpointer {
  let worker: Worker | undefined;
  let timer: NodeJS.Timeout | undefined;

  function request(): void {
    timer = undefined;
    if (!worker) {
      worker = new Worker(new URL("./checkpoint-thread.js", import.meta.url), { workerData: file });
      worker.unref();
      // Without it the log grows until the next start, and the data is as safe as before.
      worker.on("error", () => {});
    }
    worker.postMessage("checkpoint");
  }

  return {
    afterCommit() {
      timer ??= setTimeout(request, intervalMs).unref();
    },
    async close() {
      clearTimeout(timer);
      // What the log still holds goes into the file when the last connection closes.
      await worker?.terminate();
    },
  };
}
