// The texts of a file: its content, or the lines of NDJSON. One text at a time is in memory, and its size is limited.
import type { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { BadDocument } from "../../../advisories/document.ts";
import { sizeText } from "../../../advisories/document-text.ts";
import { errorMessage } from "../../../base/system-error.ts";
import { decodeUtf8 } from "../../../base/text-file.ts";
import { byteLines } from "../../byte-lines.ts";
import { sourceLimits } from "./source-limits.ts";

/** A text that holds one document. */
export interface SourceText {
  /** The place within its file, such as `line 3`; empty if it is the whole file. */
  readonly place: string;
  readonly text: string;
  /** The number of bytes of the file that the text takes; 0 if unknown, as in a compressed file. */
  readonly bytes: number;
}

const isCompressed = (name: string) => /\.gz$/i.test(name);
const isLines = (name: string) => /\.(ndjson|jsonl)(\.gz)?$/i.test(name);

/** Reads the texts of a file. Throws BadDocument when one is too large or no text. */
export async function* textsOf(name: string, file: Readable): AsyncGenerator<SourceText> {
  const chunks = isCompressed(name) ? gunzip(file) : (file as AsyncIterable<Buffer>);
  if (!isLines(name)) return void (yield await collect(chunks));
  for await (const { bytes: line, number, offset } of byteLines(chunks, sourceLimits.textBytes, tooLarge)) {
    const bytes = isCompressed(name) ? 0 : line.length;
    if (line.length > 0) yield { place: `line ${number}`, text: textOf(line, offset), bytes };
  }
}

/** The content is unpacked only as fast as it is read. */
async function* gunzip(file: Readable): AsyncGenerator<Buffer> {
  let unpacked = 0;
  const unpacker = createGunzip();
  file.on("error", (error) => unpacker.destroy(error));
  for await (const chunk of file.pipe(unpacker) as AsyncIterable<Buffer>) {
    unpacked += chunk.length;
    if (unpacked > sourceLimits.archiveBytes)
      throw new BadDocument(`unpacks to more than the limit of ${sizeText(sourceLimits.archiveBytes)}`);
    yield chunk;
  }
}

async function collect(chunks: AsyncIterable<Buffer>): Promise<SourceText> {
  const all: Buffer[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > sourceLimits.textBytes) throw tooLarge();
    all.push(chunk);
  }
  return { place: "", text: textOf(Buffer.concat(all)), bytes: size };
}

function textOf(bytes: Buffer, offset = 0): string {
  try {
    return decodeUtf8(bytes, offset);
  } catch (error) {
    throw new BadDocument(errorMessage(error));
  }
}

/** Returns the reason to leave out a text by its size. */
export function tooLarge(): BadDocument {
  return new BadDocument(`is larger than the limit of ${sizeText(sourceLimits.textBytes)}`);
}
