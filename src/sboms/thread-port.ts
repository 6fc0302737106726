// Reads documents in a thread, one after another.
import { setPriority } from "node:os";
import { parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { BadDocument } from "../advisories/document.ts";
import { type ReadDocument, readDocument } from "./read.ts";
import type { NextBytes } from "./sparse-json.ts";

/** The result of reading a document, or the problem with it: words that follow its name. */
export type ReadResult = ReadDocument | { readonly problem: string };

/** The message by which the thread asks for the next bytes of the document. */
export const nextBytes = "next bytes";

/** A message of the thread. */
export type ThreadMessage = typeof nextBytes | ReadResult;

/** The response to `nextBytes`; undefined at the end of the document. */
export type BytesMessage = Uint8Array<ArrayBuffer> | undefined;

/** Reads the documents about the images whose digests the thread receives. Its data is the signal that wakes it when bytes have been sent. */
export function serveReader(): void {
  lowerPriority();
  const signal: Int32Array = workerData;
  parentPort!.on("message", (image: string) => {
    const result = resultOf(image, bytesFrom(signal));
    parentPort!.postMessage(result satisfies ThreadMessage);
  });
}

function resultOf(image: string, next: NextBytes): ReadResult {
  try {
    return readDocument(image, next);
  } catch (error) {
    // An object nested too deep ends in a RangeError where its depth is not counted, such as in a payload.
    if (error instanceof BadDocument || error instanceof RangeError) return { problem: error.message };
    throw error;
  }
}

/** Returns a function that waits for the next bytes, so the parser need not stop in the midst of a value. */
function bytesFrom(signal: Int32Array): NextBytes {
  let last: BytesMessage;
  return () => {
    // The next garbage collection may come behind 64 MiB of bytes.
    last?.buffer.transfer(0);
    parentPort!.postMessage(nextBytes satisfies ThreadMessage);
    Atomics.wait(signal, 0, 0);
    Atomics.store(signal, 0, 0);
    const bytes: BytesMessage = receiveMessageOnPort(parentPort!)?.message;
    last = bytes;
    return bytes && Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  };
}

/** Lets the event loop go before a long document. Only Linux has a priority per thread. */
function lowerPriority(): void {
  try {
    if (process.platform === "linux") setPriority(0, 10);
  } catch {
    // Forbidden by a seccomp filter. The system then divides the core equally.
  }
}
