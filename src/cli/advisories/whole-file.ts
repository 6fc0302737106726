// Writes files atomically.
import { createWriteStream, openSync, type WriteStream } from "node:fs";
import { realpath, rename, rm, stat } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { removeOnSignal } from "../remove-on-signal.ts";

/**
 * Writes a long text, or bytes, to a temporary file, and renames it when it is complete: readers see the old or the new file.
 * Pipes and devices such as /dev/stdout are written directly.
 */
export async function writeWhole(file: string, parts: AsyncIterable<string | Buffer>): Promise<void> {
  const known = await stat(file).catch(() => undefined);
  const write = (stream: WriteStream) => pipeline(Readable.from(parts), stream);
  if (known && !known.isFile() && !known.isDirectory()) return await write(createWriteStream(file));
  // A symbolic link stays a link.
  await replace(known ? await realpath(file) : file, write);
}

/** Like `writeWhole`, for a short text. */
export function writeWholeText(file: string, text: string): Promise<void> {
  return replace(file, (stream) => pipeline(Readable.from([text]), stream));
}

/** Removes the temporary file after an error or a signal. */
async function replace(file: string, write: (stream: WriteStream) => Promise<void>): Promise<void> {
  const unfinished = `${file}.new`;
  const forget = removeOnSignal(unfinished);
  try {
    // Opened synchronously: an asynchronous open that is still running when a signal arrives would create the file
    // after its removal.
    await write(createWriteStream(unfinished, { fd: openSync(unfinished, "w") }));
    await rename(unfinished, file);
  } catch (error) {
    await rm(unfinished, { force: true }).catch(() => {});
    throw error;
  } finally {
    forget();
  }
}
