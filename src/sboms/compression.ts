// Compresses documents and decompresses them in parts: a small one can expand to a large one, which must not be in memory.
import { buffer } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { constants, createGunzip, createZstdCompress, createZstdDecompress } from "node:zlib";
import { BadDocument } from "../advisories/document.ts";

/** The compression of a document; empty for none. */
export type Compression = "" | "gzip" | "zstd";

/** Returns a document in parts without its compression. Throws a BadDocument if it does not have that. The caller limits the size. */
export async function* decompressed(bytes: Uint8Array, compression: Compression): AsyncGenerator<Buffer> {
  if (compression === "") {
    yield Buffer.from(bytes);
    return;
  }
  const stream =
    compression === "gzip" ? createGunzip() : createZstdDecompress({ params: { [constants.ZSTD_d_windowLogMax]: 25 } });
  stream.end(bytes);
  try {
    for await (const part of stream) yield part;
  } catch {
    throw new BadDocument(`is not compressed with ${compression}`);
  }
}

/** Returns a document of this size compressed with zstd. Some decoders need the size, which is in the frame. */
export async function compressed(parts: AsyncIterable<Buffer>, size: number): Promise<Buffer> {
  const compression = createZstdCompress({ pledgedSrcSize: size });
  return await pipeline(parts, compression, (all: AsyncIterable<Buffer>) => buffer(all));
}
