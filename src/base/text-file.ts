// Reads UTF-8 from files and streams. Other bytes would silently become U+FFFD.
import { isUtf8 } from "node:buffer";
import { closeSync, openSync, readSync } from "node:fs";

/** The maximum size of a file that is read as a whole. */
export const maxTextBytes = 64 * 1024 * 1024;

const chunkBytes = 64 * 1024;

/** Returns the content of a file, which may be a pipe. Throws an error of the system, or an Error if it is too large or not UTF-8. */
export function readTextFile(file: string): string {
  const descriptor = openSync(file, "r");
  try {
    return decodeUtf8(collect(chunksOf(descriptor)));
  } finally {
    closeSync(descriptor);
  }
}

/** Returns the content of a stream. Throws an Error if it is too large or not UTF-8. */
export async function readTextStream(stream: AsyncIterable<Uint8Array | string>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const part of stream) {
    const chunk = typeof part === "string" ? Buffer.from(part) : part;
    size = checkSize(size + chunk.length);
    chunks.push(chunk);
  }
  return decodeUtf8(Buffer.concat(chunks));
}

/** Returns the text without a byte order mark. Throws an Error that names the first other byte; `start` is the offset of the bytes. */
export function decodeUtf8(bytes: Buffer, start = 0): string {
  if (!isUtf8(bytes)) throw new Error(utf8Problem(bytes, start));
  const text = bytes.toString("utf8");
  return text.startsWith("\uFEFF") ? text.slice(1) : text;
}

/** Returns which byte is not UTF-8, such as "the byte 0xe9 at offset 17 is not UTF-8". */
function utf8Problem(bytes: Buffer, start: number): string {
  const at = invalidAt(bytes);
  const isUtf16 = at + start <= 1 && /^(fffe|feff)/.test(bytes.toString("hex", 0, 2));
  const byte = bytes[at]!.toString(16).padStart(2, "0");
  return `the byte 0x${byte} at offset ${start + at} is not UTF-8${isUtf16 ? ", but looks like UTF-16" : ""}`;
}

/** Returns where the decoder puts the first U+FFFD that is not in the bytes. */
function invalidAt(bytes: Buffer): number {
  let at = 0;
  for (const part of bytes.toString("utf8").split("\uFFFD")) {
    at += Buffer.byteLength(part);
    if (bytes.toString("hex", at, at + 3) !== "efbfbd") break;
    at += 3;
  }
  return at;
}

function* chunksOf(descriptor: number): Generator<Buffer> {
  for (;;) {
    const chunk = Buffer.allocUnsafe(chunkBytes);
    const length = readSync(descriptor, chunk);
    if (length === 0) return;
    yield chunk.subarray(0, length);
  }
}

function collect(chunks: Iterable<Buffer>): Buffer {
  const read: Buffer[] = [];
  let size = 0;
  for (const chunk of chunks) {
    size = checkSize(size + chunk.length);
    read.push(chunk);
  }
  return Buffer.concat(read);
}

function checkSize(bytes: number): number {
  if (bytes > maxTextBytes) throw new Error(`more than ${maxTextBytes / 1024 / 1024} MiB`);
  return bytes;
}
