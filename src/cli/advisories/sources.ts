// The files that an import reads: single files, those of directories, and those in zip archives. One at a time is in memory.
import { opendir, open as openFile, stat } from "node:fs/promises";
import path from "node:path";
import type { Readable } from "node:stream";
import { type Entry, openPromise, type ZipFile } from "yauzl";
import { hasCode, reasonOf } from "../../system-error.ts";
import { BadDocument } from "./document.ts";

/** What is bounded about the files of an import. */
export const sourceLimits = {
  /** The largest file, also when it is unpacked: the databases of whole distributions have a tenth of it. */
  fileBytes: 64 * 1024 * 1024,
  /** All that an archive unpacks to. */
  archiveBytes: 8 * 1024 * 1024 * 1024,
  /** The files of an archive. */
  archiveFiles: 1_000_000,
  /** How deep directories are nested. */
  depth: 32,
} as const;

/** A file, or an entry of an archive. */
export interface SourceFile {
  /** As a person finds it: `feed.zip: GO-2030-1.json`. */
  readonly name: string;
  /** Throws when it cannot be read, or is too large. */
  readText(): Promise<string>;
}

/** A path, or a part of one, that cannot be read at all. */
export interface BadSource {
  readonly name: string;
  readonly reason: string;
}

const documents = /\.(json|ya?ml)$/i;

/** The files of the paths, in the order of the paths. What cannot be read is named, and the rest goes on. */
export async function* filesOf(paths: readonly string[]): AsyncGenerator<SourceFile | BadSource> {
  for (const each of paths) yield* filesAt(each, 0, true);
}

async function* filesAt(file: string, depth: number, isNamed: boolean): AsyncGenerator<SourceFile | BadSource> {
  try {
    const found = await stat(file);
    if (found.isDirectory()) yield* filesBelow(file, depth);
    else if (/\.zip$/i.test(file)) yield* filesIn(file);
    else if (isNamed || documents.test(file)) yield { name: file, readText: () => readText(file) };
  } catch (error) {
    yield { name: file, reason: problemOf(error, file) };
  }
}

async function* filesBelow(directory: string, depth: number): AsyncGenerator<SourceFile | BadSource> {
  if (depth > sourceLimits.depth) throw new BadDocument(`it is more than ${sourceLimits.depth} directories deep`);
  for await (const entry of await opendir(directory)) {
    // Links could lead round in a circle; what begins with a dot belongs to tools.
    if (entry.isSymbolicLink() || entry.name.startsWith(".")) continue;
    yield* filesAt(path.join(directory, entry.name), depth + 1, false);
  }
}

async function readText(file: string): Promise<string> {
  const handle = await openFile(file);
  try {
    // A pipe has no size, so that what is read is counted.
    const { size } = await handle.stat();
    if (size > sourceLimits.fileBytes) throw tooLarge();
    return await collect(handle.createReadStream({ autoClose: false }));
  } finally {
    await handle.close();
  }
}

async function* filesIn(archive: string): AsyncGenerator<SourceFile | BadSource> {
  const zip = await openPromise(archive, { validateEntrySizes: true, autoClose: false });
  try {
    if (zip.entryCount > sourceLimits.archiveFiles)
      throw new BadDocument(`it holds more than ${sourceLimits.archiveFiles} files`);
    let unpacked = 0;
    for await (const entry of zip.eachEntry()) {
      if (entry.fileName.endsWith("/") || !documents.test(entry.fileName)) continue;
      unpacked += entry.uncompressedSize;
      if (unpacked > sourceLimits.archiveBytes)
        throw new BadDocument(`it unpacks to more than ${sourceLimits.archiveBytes} bytes`);
      yield { name: `${archive}: ${entry.fileName}`, readText: () => readEntry(zip, entry) };
    }
  } finally {
    zip.close();
  }
}

/** The declared size is held to by the library: an entry that unpacks to more is an error. */
async function readEntry(zip: ZipFile, entry: Entry): Promise<string> {
  if (entry.uncompressedSize > sourceLimits.fileBytes) throw tooLarge();
  return await collect(await zip.openReadStreamPromise(entry));
}

async function collect(stream: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > sourceLimits.fileBytes) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function tooLarge(): BadDocument {
  return new BadDocument(`it is larger than ${sourceLimits.fileBytes} bytes`);
}

/** Why a file, or a part of it, could not be read, in the words of the system where it has some. */
export function problemOf(error: unknown, file: string): string {
  if (hasCode(error, "ENOENT")) return "there is no such file";
  if (hasCode(error, "EACCES")) return "it may not be read";
  return reasonOf(error, file);
}
