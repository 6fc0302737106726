// Reads SBOMs in a thread with a limit on its memory: a large document would block the event loop, and a hostile one the server.
import { Worker } from "node:worker_threads";
import { programFile } from "../base/program-file.ts";
import { sbomLimits } from "./limits.ts";
import type { SbomDocument } from "./read.ts";
import type { ReadResult } from "./thread-port.ts";

const threadFile = programFile("sboms/read-thread.js");

/** Reads documents, one at a time. Disposing ends the thread. */
export interface SbomReader extends AsyncDisposable {
  /** Reads a document. Its bytes are copied, or moved: then the caller cannot use them any more. */
  read(document: SbomDocument, isMoved?: boolean): Promise<ReadResult>;
}

/** Makes a reader, whose thread starts with the first document and ends when it has had none for a while. */
export function newSbomReader(): SbomReader {
  let thread: Worker | undefined;
  let idle: NodeJS.Timeout | undefined;
  let last: Promise<unknown> = Promise.resolve();

  async function end(): Promise<void> {
    clearTimeout(idle);
    const ending = thread;
    thread = undefined;
    await ending?.terminate();
  }

  async function readNow(document: SbomDocument, isMoved: boolean): Promise<ReadResult> {
    clearTimeout(idle);
    thread ??= start();
    const result = await resultOf(thread, document, isMoved);
    if (!result.isAlive) await end();
    else idle = setTimeout(() => void end(), idleMs).unref();
    return result.result;
  }

  return {
    read(document, isMoved = false) {
      const reading = last.then(() => readNow(document, isMoved));
      last = reading.catch(() => {});
      return reading;
    },
    async [Symbol.asyncDispose]() {
      await last;
      await end();
    },
  };
}

/** How long the thread waits for the next document, in milliseconds. */
const idleMs = 30_000;

function start(): Worker {
  const resourceLimits = { maxOldGenerationSizeMb: sbomLimits.threadMiB, maxYoungGenerationSizeMb: 16, stackSizeMb: 2 };
  // It needs no variables; one of `node --watch` would make it report its modules as results.
  const worker = new Worker(threadFile, { env: {}, resourceLimits });
  worker.unref();
  return worker;
}

/** Waits for the result of a document. A thread that ends, or that takes too long, is the fault of the document. */
function resultOf(
  worker: Worker,
  document: SbomDocument,
  isMoved: boolean,
): Promise<{ result: ReadResult; isAlive: boolean }> {
  return new Promise((resolve) => {
    const finish = (result: ReadResult, isAlive: boolean) => {
      clearTimeout(timer);
      worker.removeAllListeners("message").removeAllListeners("error").removeAllListeners("exit");
      worker.on("error", () => {});
      worker.unref();
      resolve({ result, isAlive });
    };
    const timer = setTimeout(() => finish({ problem: "takes too long to read" }, false), sbomLimits.readMs);
    worker.ref();
    worker.removeAllListeners("error");
    // The memory of a bad document is given back at once, not at the next garbage collection.
    worker.once("message", (result: ReadResult) => finish(result, !("problem" in result)));
    worker.once("error", (error) => finish({ problem: problemOf(error) }, false));
    worker.once("exit", () => finish({ problem: "cannot be read" }, false));
    const { buffer, byteLength } = document.bytes;
    // Small buffers share their memory with others.
    const isOwn = buffer instanceof ArrayBuffer && buffer.byteLength === byteLength;
    worker.postMessage(document, isMoved && isOwn ? [buffer] : []);
  });
}

function problemOf(error: unknown): string {
  const { code, message } = error as Error & { readonly code?: string };
  return code === "ERR_WORKER_OUT_OF_MEMORY" ? "needs more memory than a document may" : `cannot be read: ${message}`;
}
