// Moves what the write-ahead log holds into the database file, in a thread of its own: it flushes both files, and the event
// loop must not wait for a disk.
import { readFileSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { StorageUnavailable } from "../errors.ts";

/** The checkpoints of one database file. */
export interface Checkpointer {
  /** Says that something was committed; a checkpoint follows soon. */
  afterCommit(): void;
  /** Says that the disk is full; the next write waits until the log has given back what it takes of it. */
  afterFull(): void;
  /**
   * Says that the log could not be flushed; no write is made until the log is empty and the file has been flushed.
   *
   * The system tells of a failed flush once: it then takes what it could not write for written (fsync(2)), so that the next flush
   * succeeds without it. A commit behind such a gap in the log would be lost with a power cut, although it was flushed itself.
   */
  afterFailedFlush(): void;
  /**
   * What a write has to wait for once the log is long: all of it has to be in the file, so that the next commit begins the
   * log anew. Undefined while the log is short, the disk has room and the last flush succeeded. Rejects with StorageUnavailable
   * while a log that was not flushed cannot be emptied.
   *
   * Writes that never pause would let the log grow without end, and every read looks through all of it.
   */
  waitForRoom(): Promise<void> | undefined;
  close(): Promise<void>;
}

/** What a checkpoint found. */
interface CheckpointResult {
  /** Pages in the log, and those of them that are in the file now. */
  readonly log: number;
  readonly checkpointed: number;
  /** Whether it did what it was to do: nothing failed, and nobody was in its way. */
  readonly isMade: boolean;
}

/** How long commits gather before a checkpoint, in milliseconds. */
const intervalMs = 250;

/** How long the log may become before writes wait, in pages of 4 KiB. */
const longLogPages = 16 * 1024;

/** The size that the log shrinks to when it begins anew, in bytes. It grows far beyond while somebody reads for long. */
export const keptLogBytes = longLogPages * 4096;

/** What the thread is told to do; `empty` takes away the log's part of the disk as well, and waits for those who read. */
type Order = "checkpoint" | "empty" | "close";

const threadFile = new URL("./checkpoint-thread.cjs", import.meta.url);
/** What a checkpoint finds that could not be made. */
const nothing: CheckpointResult = { log: 0, checkpointed: 0, isMade: false };

/** Makes the checkpointer of a database file. Its thread starts with the first commit. */
export function newCheckpointer(file: string, longLog = longLogPages): Checkpointer {
  let worker: Worker | undefined;
  let timer: NodeJS.Timeout | undefined;
  let pages = 0;
  let isDiskFull = false;
  let isUnflushed = false;
  const running: ((result: CheckpointResult) => void)[] = [];

  function start(): Worker {
    // As text: a thread that could not read its file would fail, which the thread's own code must never do.
    const started = new Worker(readFileSync(threadFile, "utf8"), {
      eval: true,
      workerData: { file, module: import.meta.url },
    });
    started.on("message", (result: CheckpointResult) => {
      pages = result.log;
      running.shift()?.(result);
    });
    started.on("error", () => {});
    started.on("exit", () => {
      worker = undefined;
      pages = 0;
      for (const done of running.splice(0)) done(nothing);
    });
    // A listener for messages keeps the process alive.
    started.unref();
    return started;
  }

  async function checkpoint(order: Order = "checkpoint"): Promise<CheckpointResult> {
    try {
      worker ??= start();
    } catch {
      // Too many open files, say. The next checkpoint tries again.
      return nothing;
    }
    const thread = worker;
    return await new Promise((done) => {
      running.push(done);
      thread.postMessage(order);
    });
  }

  /** While nobody writes, so that nothing comes to the log after what is moved. */
  async function empty(): Promise<void> {
    const running = checkpoint(isDiskFull || isUnflushed ? "empty" : "checkpoint");
    isDiskFull = false;
    // A write waits, whatever else may have ended.
    worker?.ref();
    const { log, checkpointed, isMade } = await running;
    worker?.unref();
    if (log === checkpointed) pages = 0;
    if (isMade) isUnflushed = false;
    if (isUnflushed) throw new StorageUnavailable("earlier writes could not be flushed");
  }

  return {
    afterCommit() {
      timer ??= setTimeout(() => {
        timer = undefined;
        void checkpoint();
      }, intervalMs).unref();
    },
    afterFull() {
      isDiskFull = true;
    },
    afterFailedFlush() {
      isUnflushed = true;
    },
    waitForRoom: () => (isDiskFull || isUnflushed || pages > longLog ? empty() : undefined),
    async close() {
      clearTimeout(timer);
      if (!worker) return;
      // The thread ends by itself: one that is cut off while it loads native code takes the process with it. What the log
      // still holds goes into the file when the last connection closes.
      const thread = worker;
      const ended = new Promise((resolve) => thread.once("exit", resolve));
      thread.ref();
      thread.postMessage("close" satisfies Order);
      await ended;
    },
  };
}
