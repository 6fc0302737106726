// Writes tar archives (POSIX.1-1988, ustar) and compresses streams with gzip.
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";

/** The size of a block; files begin at one. */
const blockBytes = 512;

/** The bytes that a name may have. */
const maxName = 100;

/** A file of an archive. */
export interface TarEntry {
  /** At most 100 bytes. */
  readonly name: string;
  readonly size: number;
  /** The content, which has that size. */
  readonly content: Iterable<Uint8Array>;
}

/** Yields the parts of an archive with these entries. All files have the same time, in seconds since the epoch. */
export async function* tarParts(entries: AsyncIterable<TarEntry>, time: number): AsyncGenerator<Uint8Array> {
  for await (const { name, size, content } of entries) {
    yield headOf(name, size, time);
    let written = 0;
    for (const part of content) {
      written += part.length;
      yield part;
    }
    if (written !== size) throw new Error(`${name} has ${written} bytes, not ${size}`);
    yield Buffer.alloc(-size & (blockBytes - 1));
  }
  yield Buffer.alloc(2 * blockBytes);
}

/** Compresses parts. Stops reading them when its own reader stops. */
export async function* gzipParts(parts: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const gzip = createGzip({ chunkSize: 64 * 1024 });
  const written = pipeline(Readable.from(parts, { objectMode: true }), gzip);
  // The reader gets the error from the stream.
  written.catch(() => {});
  yield* gzip;
  await written;
}

function headOf(name: string, size: number, time: number): Buffer {
  const nameBytes = Buffer.from(name);
  if (nameBytes.length > maxName) throw new Error(`${name} is too long for a tar archive`);
  const head = Buffer.alloc(blockBytes);
  nameBytes.copy(head);
  const write = (text: string, at: number) => void head.write(text, at, "latin1");
  write(octal(0o644, 8), 100);
  write(octal(0, 8), 108);
  write(octal(0, 8), 116);
  write(octal(size, 12), 124);
  write(octal(time, 12), 136);
  // The checksum counts itself as blanks.
  write(" ".repeat(8), 148);
  write("0", 156);
  write("ustar\0" + "00", 257);
  const sum = head.reduce((total, byte) => total + byte, 0);
  write(`${octal(sum, 7)} `, 148);
  return head;
}

/** Returns a number in a field of so many bytes, which ends with NUL. */
function octal(value: number, length: number): string {
  return `${value.toString(8).padStart(length - 1, "0")}\0`;
}
