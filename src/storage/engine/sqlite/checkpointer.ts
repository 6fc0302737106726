// Checkpoints the write-ahead log into the database file, in a thread of its own: a checkpoint flushes both files, and
// the event loop must not wait for a disk.
import { readFileSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { programFile } from "../../../base/program-file.ts";
import { StorageUnavailable } from "../errors.ts";

/** Runs the checkpoints of one database file. */
export interface Checkpointer {
  /** Schedules a checkpoint after a commit. */
  afterCommit(): void;
  /** Reports a full disk; the next write waits until a checkpoint has truncated the log. */
  afterFull(): void;
  /**
   * Reports a failed flush of the log; writes wait until the log is empty and the file has been flushed.
   *
   * The operating system reports a failed flush once, and then marks the pages as written (fsync(2)): the next flush
   * succeeds without them. A later commit would be lost in a power failure although its own flush succeeded.
   */
  afterFailedFlush(): void;
  /**
   * Returns a promise that the next write must await, or undefined. It is set if the log is long, the disk was full or
   * the last flush failed. It resolves once the whole log is in the file. Rejects with StorageUnavailable while an
   * unflushed log cannot be emptied.
   *
   * Without this, writes that never pause would let the log grow without limit, and every read searches all of it.
   */
  waitForRoom(): Promise<void> | undefined;
  close(): Promise<void>;
}

/** The result of a checkpoint. */
interface CheckpointResult {
  /** Pages in the log, and how many of them are in the file now. */
  readonly log: number;
  readonly checkpointed: number;
  /** Whether it completed: nothing failed, and no reader blocked it. */
  readonly isMade: boolean;
}

/** The delay between a commit and its checkpoint, in milliseconds. */
const intervalMs = 250;

/** The length of the log from which writes wait, in pages of 4 KiB. */
const longLogPages = 16 * 1024;

/** The size that SQLite truncates the log to when it restarts, in bytes. A long read lets it grow far beyond. */
export const keptLogBytes = longLogPages * 4096;

/** Commands of the thread. `empty` also truncates the log on disk, and waits for readers. */
type Order = "checkpoint" | "empty" | "close";

const threadFile = programFile("storage/engine/sqlite/checkpoint-thread.cjs");
/** The result of a checkpoint that did not run. */
const nothing: CheckpointResult = { log: 0, checkpointed: 0, isMade: false };

/** Creates the checkpointer of a database file. Its thread starts with the first commit. */
export function newCheckpointer(file: string, longLog = longLogPages): Checkpointer {
  const checkpointer = new ThreadCheckpointer(file, longLog);
  return {
    afterCommit: () => checkpointer.afterCommit(),
    afterFull: () => checkpointer.afterFull(),
    afterFailedFlush: () => checkpointer.afterFailedFlush(),
    waitForRoom: () => checkpointer.waitForRoom(),
    close: () => checkpointer.close(),
  };
}

class ThreadCheckpointer {
  readonly #file: string;
  readonly #longLog: number;
  #thread: Worker | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** The length of the log after the last checkpoint. */
  #pages = 0;
  #isDiskFull = false;
  #isUnflushed = false;
  /** Resolve the running checkpoints, in order. */
  readonly #running: ((result: CheckpointResult) => void)[] = [];

  constructor(file: string, longLog: number) {
    this.#file = file;
    this.#longLog = longLog;
  }

  afterCommit(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.#checkpoint("checkpoint");
    }, intervalMs).unref();
  }

  afterFull(): void {
    this.#isDiskFull = true;
  }

  afterFailedFlush(): void {
    this.#isUnflushed = true;
  }

  waitForRoom(): Promise<void> | undefined {
    return this.#isDiskFull || this.#isUnflushed || this.#pages > this.#longLog ? this.#empty() : undefined;
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    const thread = this.#thread;
    if (!thread) return;
    // The thread ends by itself: terminating it while it loads native code ends the process. What is left in the log
    // moves to the file when the last connection closes.
    const ended = new Promise((resolve) => thread.once("exit", resolve));
    thread.ref();
    thread.postMessage("close" satisfies Order);
    await ended;
  }

  #start(): Worker {
    // Passed as text: a thread that cannot read its file would throw, which its own code never does. It needs no variables; one of
    // `node --watch` would make it report its modules as results.
    const thread = new Worker(readFileSync(threadFile, "utf8"), {
      eval: true,
      env: {},
      workerData: { file: this.#file, module: import.meta.url },
    });
    thread.on("message", (result: CheckpointResult) => {
      this.#pages = result.log;
      this.#running.shift()?.(result);
    });
    thread.on("error", () => {});
    thread.on("exit", () => {
      this.#thread = undefined;
      this.#pages = 0;
      for (const done of this.#running.splice(0)) done(nothing);
    });
    // A listener for messages keeps the process alive.
    thread.unref();
    return thread;
  }

  async #checkpoint(order: Order): Promise<CheckpointResult> {
    try {
      this.#thread ??= this.#start();
    } catch {
      // For example, too many open files. The next checkpoint tries again.
      return nothing;
    }
    const thread = this.#thread;
    return await new Promise((done) => {
      this.#running.push(done);
      thread.postMessage(order);
    });
  }

  /** Runs while no write does, so nothing is appended to the log behind the checkpoint. */
  async #empty(): Promise<void> {
    const running = this.#checkpoint(this.#isDiskFull || this.#isUnflushed ? "empty" : "checkpoint");
    this.#isDiskFull = false;
    // A write waits for this, so the process must stay alive.
    this.#thread?.ref();
    const { log, checkpointed, isMade } = await running;
    this.#thread?.unref();
    if (log === checkpointed) this.#pages = 0;
    if (isMade) this.#isUnflushed = false;
    if (this.#isUnflushed) throw new StorageUnavailable("earlier writes could not be flushed");
  }
}
