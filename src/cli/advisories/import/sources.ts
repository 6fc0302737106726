// The files that an import reads: single files, those of directories, and those in zip archives. One at a time is in memory.
import type { Dirent } from "node:fs";
import { open as openFile, readdir, stat } from "node:fs/promises";
import path from "node:path";
import { type Entry, openPromise, type ZipFile } from "yauzl";
import { BadDocument } from "../../../advisories/document.ts";
import { sizeText } from "../../../advisories/document-text.ts";
import type { NamedFile } from "../../../advisories/named-files.ts";
import { errorMessage, hasCode } from "../../../base/system-error.ts";
import { sourceLimits } from "./source-limits.ts";
import { type SourceText, textsOf, tooLarge } from "./texts.ts";

/** A file, or an entry of an archive. */
export interface SourceFile {
  /** As a person finds it: `feed.zip: GO-2030-1.json`. */
  readonly name: string;
  /** The size of the file in bytes; 0 if it is not known. */
  readonly bytes: number;
  /** Reads it. Throws when it cannot be read, or is too large. */
  texts(): AsyncIterable<SourceText>;
}

/** A path, or a part of one, that cannot be read at all. */
export interface BadSource {
  readonly name: string;
  readonly reason: string;
}

/** A path that is not read, with its kind. */
export interface NamedSource extends NamedFile {
  readonly name: string;
}

/** A file that is not read, since its name is not that of advisories. */
export interface SkippedSource {
  readonly name: string;
  /** The end of the name, such as `.md`; empty when it has none. */
  readonly extension: string;
}

type Source = SourceFile | BadSource | NamedSource | SkippedSource;

const documents = /\.(json|ndjson|jsonl|ya?ml)(\.gz)?$/i;
const archives = /\.(zip|tar|tgz|tar\.\w+|7z|rar)$/i;

/**
 * Returns the files of the paths, in the order of the paths; `-` is standard input. What cannot be read is named, and the rest goes on.
 */
export async function* filesOf(paths: readonly string[]): AsyncGenerator<Source> {
  for (const each of paths) {
    if (each === "-") yield { name: "standard input", bytes: 0, texts: () => textsOf("", process.stdin) };
    else yield* filesAt(each, 0, true);
  }
}

async function* filesAt(file: string, depth: number, isNamed: boolean): AsyncGenerator<Source> {
  try {
    const found = await stat(file);
    if (found.isDirectory()) yield* filesBelow(file, depth);
    else if (/\.zip$/i.test(file)) yield* filesIn(file);
    else if (archives.test(file)) throw new BadDocument("is an archive but not a zip file: unpack it first");
    // To open a pipe that nobody writes to would take forever.
    else if (!isNamed && !found.isFile())
      yield { name: file, what: "a pipe, a socket or a device, which is not read", standsForRecords: true };
    else if (isNamed || documents.test(file)) yield { name: file, bytes: found.size, texts: () => textsAt(file) };
  } catch (error) {
    yield { name: file, reason: problemOf(error, file) };
  }
}

async function* filesBelow(directory: string, depth: number): AsyncGenerator<Source> {
  if (depth > sourceLimits.depth) throw new BadDocument(`is more than ${sourceLimits.depth} directories deep`);
  const entries = await readdir(directory, { withFileTypes: true });
  for (const entry of inOrder(entries)) {
    // Names that begin with a dot belong to tools.
    if (entry.name.startsWith(".")) continue;
    const file = path.join(directory, entry.name);
    // It could lead round in a circle.
    if (entry.isSymbolicLink() && (await isDirectory(file)))
      yield { name: file, what: "a link to a directory, which is not followed", standsForRecords: true };
    else if (entry.isDirectory() || documents.test(file) || archives.test(file)) yield* filesAt(file, depth + 1, false);
    else yield skipped(file);
  }
}

function skipped(name: string): SkippedSource {
  return { name, extension: path.extname(name).toLowerCase() };
}

/** Whether an entry of an archive is a file that no tool has hidden. It is counted then. */
function isSkipped(entry: string): boolean {
  return !entry.endsWith("/") && !archives.test(entry) && !/(^|\/)\./.test(entry);
}

/**
 * Of copies without a time the first one counts, which must not depend on the file system. CVE-2030-9 comes before CVE-2030-10: numbers
 * mostly grow with time, and a database writes less when times grow.
 */
function inOrder(entries: readonly Dirent[]): Dirent[] {
  const keyed = entries.map((entry) => ({
    entry,
    key: entry.name.replace(/\d+/g, (digits) => digits.padStart(20, "0")),
  }));
  return keyed.sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ entry }) => entry);
}

async function isDirectory(file: string): Promise<boolean> {
  return (await stat(file).catch(() => undefined))?.isDirectory() ?? false;
}

async function* textsAt(file: string): AsyncGenerator<SourceText> {
  const handle = await openFile(file);
  try {
    yield* textsOf(file, handle.createReadStream({ autoClose: false }));
  } finally {
    await handle.close();
  }
}

async function* filesIn(archive: string): AsyncGenerator<Source> {
  const zip = await openPromise(archive, { validateEntrySizes: true, autoClose: false });
  try {
    if (zip.entryCount > sourceLimits.archiveFiles)
      throw new BadDocument(`holds more than ${sourceLimits.archiveFiles} files`);
    let unpacked = 0;
    for await (const entry of zip.eachEntry()) {
      const name = `${archive}: ${entry.fileName}`;
      if (archives.test(entry.fileName)) yield { name, reason: "is an archive in an archive: unpack it first" };
      if (!documents.test(entry.fileName)) {
        if (isSkipped(entry.fileName)) yield skipped(name);
        continue;
      }
      unpacked += entry.uncompressedSize;
      if (unpacked > sourceLimits.archiveBytes)
        throw new BadDocument(`unpacks to more than the limit of ${sizeText(sourceLimits.archiveBytes)}`);
      yield { name, bytes: entry.uncompressedSize, texts: () => textsIn(zip, entry) };
    }
  } finally {
    zip.close();
  }
}

/** The library holds an entry to its declared size: one that unpacks to more is an error. */
async function* textsIn(zip: ZipFile, entry: Entry): AsyncGenerator<SourceText> {
  const isWhole = /\.(json|ya?ml)$/i.test(entry.fileName);
  if (isWhole && entry.uncompressedSize > sourceLimits.textBytes) throw tooLarge();
  yield* textsOf(entry.fileName, await zip.openReadStreamPromise(entry));
}

/** Returns the reason why a file, or a part of it, could not be read; in the words of the system if it has any. */
export function problemOf(error: unknown, file: string): string {
  if (hasCode(error, "ENOENT")) return "there is no such file";
  if (hasCode(error, "EACCES")) return "it may not be read";
  return errorMessage(error, file);
}
