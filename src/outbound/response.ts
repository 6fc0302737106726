import type { IncomingMessage } from "node:http";
import { LongAnswer, OutboundError } from "./error.ts";

/** The size of the first buffer for a body of unknown length. */
const firstBytes = 16 * 1024;
/** The size from which a buffer has memory of its own. */
const largeBytes = 1024 * 1024;

/** A header of a response. */
export interface Header {
  readonly name: string;
  readonly value: string;
}

/** Returns the headers of a response, with their names in lower case. */
export function headersOf({ rawHeaders }: IncomingMessage): Header[] {
  return rawHeaders.flatMap((name, i) =>
    i % 2 === 0 ? [{ name: name.toLowerCase(), value: rawHeaders[i + 1] ?? "" }] : [],
  );
}

/**
 * Returns the body of a 2xx or 4xx response in parts. Throws an OutboundError for failures, redirects and unexpected encodings, and a
 * LongAnswer if the body is longer than `maxBytes`.
 */
export function bodyWithin(response: IncomingMessage, maxBytes: number): AsyncIterable<Buffer> {
  checkHead(response);
  return partsWithin(response, maxBytes);
}

async function* partsWithin(response: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Buffer> {
  let size = 0;
  for await (const part of response) {
    size += part.length;
    if (size > maxBytes) throw new LongAnswer(maxBytes);
    yield part;
  }
}

/** Reads the body of a response like `bodyWithin`. */
export async function readBody(response: IncomingMessage, maxBytes: number): Promise<Buffer> {
  // One buffer of the announced length: parts and their concatenation would take twice the memory of a long body.
  let body = newBuffer(Math.min(Number(response.headers["content-length"]) || firstBytes, maxBytes));
  let size = 0;
  for await (const part of bodyWithin(response, maxBytes)) {
    const end = size + part.length;
    if (end > body.length) body = Buffer.concat([body.subarray(0, size)], Math.min(Math.max(end, 2 * size), maxBytes));
    size += part.copy(body, size);
    giveUp(part);
  }
  return body.subarray(0, size);
}

/**
 * Returns a buffer. A large one is of memory that goes back to the system when it is freed: what `malloc` frees of this size, it keeps.
 * Node has that only for buffers that could be resized.
 */
function newBuffer(bytes: number): Buffer<ArrayBuffer> {
  return bytes < largeBytes ? Buffer.allocUnsafe(bytes) : Buffer.from(new ArrayBuffer(bytes, { maxByteLength: bytes }));
}

/** Frees the memory of a part now, if nothing else shares it: the next garbage collection may come behind 64 MiB of them. */
function giveUp({ buffer, byteLength }: Buffer): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}

/** Reads the body of a response up to a limit. Returns what came before the limit or a failure. */
export async function readBeginning(response: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of response) {
      chunks.push(chunk as Buffer);
      size += (chunk as Buffer).length;
      if (size > maxBytes) break;
    }
  } catch {
    // An error after the status line does not change the result.
  }
  return Buffer.concat(chunks);
}

function checkHead({ statusCode = 0, headers }: IncomingMessage): void {
  if (statusCode >= 500 || statusCode === 429) throw new OutboundError("unavailable", "the server has a failure");
  if (statusCode >= 300 && statusCode < 400) throw new OutboundError("refused", "redirects are not followed");
  // Never decompresses an encoding that was not requested: a small body may expand to a large one (security case J5).
  const encoding = headers["content-encoding"] ?? "identity";
  if (encoding !== "identity") throw new OutboundError("refused", "the answer is compressed");
}
