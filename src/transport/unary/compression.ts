// The compressions of messages (gRPC's compression.md; Connect, "Content-Encoding"). They run in zlib's thread pool, outside of the event loop.
import type { BrotliOptions, ZlibOptions } from "node:zlib";
import { ApiError, Code } from "../../aip/errors.ts";
import { hasCode } from "../../base/system-error.ts";
import { messageTooLarge } from "../http/message-size.ts";

/** A compression of messages, by the name that `grpc-encoding` and `content-encoding` have for it. */
export interface Compression {
  readonly name: string;
  compress(bytes: Uint8Array): Promise<Buffer<ArrayBuffer>>;
  /** Rejects with RESOURCE_EXHAUSTED beyond `maxBytes`, and with INVALID_ARGUMENT if the data is malformed. */
  decompress(bytes: Uint8Array, maxBytes: number): Promise<Buffer<ArrayBuffer>>;
}

/** A message as it is on the wire. */
export interface WireMessage {
  readonly bytes: Buffer;
  readonly isCompressed: boolean;
}

/** Shorter messages are sent as they are. */
const minCompressedBytes = 1024;

type Done = (error: Error | null, bytes: Buffer<ArrayBuffer>) => void;

const zlib = () => process.getBuiltinModule("node:zlib");

const gzip: Compression = {
  name: "gzip",
  compress: (bytes) => run((done) => zlib().gzip(bytes, done)),
  decompress: (bytes, maxBytes) =>
    decompressed(bytes, maxBytes, (options, done) => zlib().gunzip(bytes, options, done)),
};

const brotli: Compression = {
  name: "br",
  compress: (bytes) => run((done) => zlib().brotliCompress(bytes, brotliOptions(), done)),
  decompress: (bytes, maxBytes) =>
    decompressed(bytes, maxBytes, (options, done) => zlib().brotliDecompress(bytes, options, done)),
};

/** The supported compressions by name, besides identity. */
export const compressions: ReadonlyMap<string, Compression> = new Map([gzip, brotli].map((each) => [each.name, each]));

/** Compresses a message, unless it is short. */
export async function compressLong(message: string | Uint8Array, { compress }: Compression): Promise<WireMessage> {
  const bytes = Buffer.from(message as string);
  const isCompressed = bytes.length >= minCompressedBytes;
  return { bytes: isCompressed ? await compress(bytes) : bytes, isCompressed };
}

/** The default quality, 11, takes a hundred times as long. */
function brotliOptions(): BrotliOptions {
  return { params: { [zlib().constants.BROTLI_PARAM_QUALITY]: 4 } };
}

async function decompressed(
  bytes: Uint8Array,
  maxOutputLength: number,
  start: (options: ZlibOptions & BrotliOptions, done: Done) => void,
): Promise<Buffer<ArrayBuffer>> {
  // An empty body is an empty message; for zlib it is data that ends early.
  if (bytes.length === 0) return Buffer.alloc(0);
  try {
    return await run((done) => start({ maxOutputLength }, done));
  } catch (error) {
    if (hasCode(error, "ERR_BUFFER_TOO_LARGE")) throw messageTooLarge(maxOutputLength);
    throw new ApiError(Code.INVALID_ARGUMENT, "decompression failed", { cause: error });
  }
}

function run(start: (done: Done) => void): Promise<Buffer<ArrayBuffer>> {
  return new Promise((resolve, reject) => {
    start((error, bytes) => (error ? reject(error) : resolve(bytes)));
  });
}
