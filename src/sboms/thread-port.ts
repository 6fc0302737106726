// Reads documents in a thread, one after another.
import { setPriority } from "node:os";
import { parentPort } from "node:worker_threads";
import { BadDocument } from "../advisories/document.ts";
import { type ReadDocument, readDocument, type SbomDocument } from "./read.ts";

/** The result of reading a document, or the problem with it: words that follow its name. */
export type ReadResult = ReadDocument | { readonly problem: string };

/** Reads the documents that the thread receives. */
export function serveReader(): void {
  lowerPriority();
  parentPort!.on("message", (document: SbomDocument) => parentPort!.postMessage(resultOf(document)));
}

function resultOf(document: SbomDocument): ReadResult {
  try {
    return readDocument(document);
  } catch (error) {
    // An object nested too deep ends in a RangeError where its depth is not counted, such as in a payload.
    if (error instanceof BadDocument || error instanceof RangeError) return { problem: error.message };
    throw error;
  }
}

/** Lets the event loop go before a long document. Only Linux has a priority per thread. */
function lowerPriority(): void {
  try {
    if (process.platform === "linux") setPriority(0, 10);
  } catch {
    // Forbidden by a seccomp filter. The system then divides the core equally.
  }
}
