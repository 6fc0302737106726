// Reads SBOMs in a thread with a limit on its memory: a large document would block the event loop, and a hostile one the server.
import { Worker } from "node:worker_threads";
import { BadDocument } from "../advisories/document.ts";
import { programFile } from "../base/program-file.ts";
import { sbomLimits } from "./limits.ts";
import { type BytesMessage, nextBytes, type ReadResult, type ThreadMessage } from "./thread-port.ts";

const threadFile = programFile("sboms/read-thread.js");

/** The bytes of a document, in parts: all of them, or as they come. Parts move to the thread, so nobody else can read them afterwards. */
export type DocumentBytes = Iterable<Uint8Array> | AsyncIterable<Uint8Array>;

/** Reads documents, one at a time. Disposing ends the thread. */
export interface SbomReader extends AsyncDisposable {
  /**
   * Reads a document about the image with a digest. Rejects with the error of `bytes` if they do not come. If the problem is the document, or
   * the error a BadDocument, the result says so.
   */
  read(image: string, bytes: DocumentBytes): Promise<ReadResult>;
}

/** Makes a reader, whose thread starts with the first document and ends when it has had none for a while. */
export function newSbomReader(): SbomReader {
  let thread: ReadThread | undefined;
  let idle: NodeJS.Timeout | undefined;
  let last: Promise<unknown> = Promise.resolve();

  async function end(): Promise<void> {
    clearTimeout(idle);
    const ending = thread;
    thread = undefined;
    await ending?.worker.terminate();
  }

  async function readNow(image: string, bytes: DocumentBytes): Promise<ReadResult> {
    clearTimeout(idle);
    thread ??= start();
    // The memory of a bad document is given back at once, not at the next garbage collection.
    let isGood = false;
    try {
      const result = await resultOf(thread, image, bytes);
      isGood = !("problem" in result);
      return result;
    } finally {
      if (isGood) idle = setTimeout(() => void end(), idleMs).unref();
      else await end();
    }
  }

  return {
    read(image, bytes) {
      const reading = last.then(() => readNow(image, bytes));
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

/** The thread, and the signal that wakes it. */
interface ReadThread {
  readonly worker: Worker;
  readonly signal: Int32Array<SharedArrayBuffer>;
}

function start(): ReadThread {
  const resourceLimits = { maxOldGenerationSizeMb: sbomLimits.threadMiB, maxYoungGenerationSizeMb: 16, stackSizeMb: 2 };
  const signal = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  // It needs no variables; one of `node --watch` would make it report its modules as results.
  const worker = new Worker(threadFile, { env: {}, resourceLimits, workerData: signal });
  worker.unref();
  return { worker, signal };
}

/** Waits for the result of a document. A thread that ends, or that takes too long, is the fault of the document. */
async function resultOf({ worker, signal }: ReadThread, image: string, bytes: DocumentBytes): Promise<ReadResult> {
  const parts = partsOf(bytes);
  const { promise, resolve, reject } = Promise.withResolvers<ReadResult>();
  const timer = setTimeout(() => resolve({ problem: "takes too long to read" }), sbomLimits.readMs);
  const send = (part: BytesMessage) => {
    worker.postMessage(part, part ? [part.buffer] : []);
    Atomics.store(signal, 0, 1);
    Atomics.notify(signal, 0);
  };
  const fail = (error: unknown) => (error instanceof BadDocument ? resolve({ problem: error.message }) : reject(error));
  worker.ref();
  worker.removeAllListeners("error");
  worker.on("message", (message: ThreadMessage) => {
    if (message !== nextBytes) resolve(message);
    else parts.next().then(({ value }) => send(value), fail);
  });
  worker.once("error", (error) => resolve({ problem: problemOf(error) }));
  worker.once("exit", () => resolve({ problem: "cannot be read" }));
  worker.postMessage(image);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    worker.removeAllListeners("message").removeAllListeners("error").removeAllListeners("exit");
    worker.on("error", () => {});
    worker.unref();
    await parts.return(undefined);
  }
}

/** Returns the parts. One that shares its memory with others is copied. */
async function* partsOf(bytes: DocumentBytes): AsyncGenerator<Uint8Array<ArrayBuffer>, undefined> {
  for await (const part of bytes) yield isAlone(part) ? part : Uint8Array.from(part);
  return undefined;
}

function isAlone(part: Uint8Array): part is Uint8Array<ArrayBuffer> {
  const { buffer, byteLength } = part;
  return buffer instanceof ArrayBuffer && buffer.byteLength === byteLength;
}

function problemOf(error: unknown): string {
  const { code, message } = error as Error & { readonly code?: string };
  return code === "ERR_WORKER_OUT_OF_MEMORY" ? "needs more memory than a document may" : `cannot be read: ${message}`;
}
