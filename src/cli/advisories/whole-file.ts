// Files that are there as a whole or not at all.
import { createWriteStream, rmSync } from "node:fs";
import { realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Writes a long text to a file beside its place, and renames it once it is complete: readers see the old file or the new one. What is
 * no file, such as a pipe or /dev/stdout, is written to.
 */
export async function writeWhole(file: string, parts: AsyncIterable<string>): Promise<void> {
  const known = await stat(file).catch(() => undefined);
  const write = (place: string) => pipeline(Readable.from(parts), createWriteStream(place));
  if (known && !known.isFile() && !known.isDirectory()) return await write(file);
  // A link stays one.
  await replace(known ? await realpath(file) : file, write);
}

/** The same for a short text. */
export function writeWholeText(file: string, text: string): Promise<void> {
  return replace(file, (unfinished) => writeFile(unfinished, text));
}

/** After a failure or a signal nothing is left of the unfinished file. */
async function replace(file: string, write: (unfinished: string) => Promise<void>): Promise<void> {
  const unfinished = `${file}.new`;
  const forget = removeOnSignal(unfinished);
  try {
    await write(unfinished);
    await rename(unfinished, file);
  } catch (error) {
    await rm(unfinished, { force: true }).catch(() => {});
    throw error;
  } finally {
    forget();
  }
}

/** Removes a file when a signal ends the program. Answers what stops listening. */
function removeOnSignal(file: string): () => void {
  const onSignal = (signal: NodeJS.Signals) => {
    forget();
    try {
      rmSync(file, { force: true });
    } finally {
      process.kill(process.pid, signal);
    }
  };
  const forget = () => {
    for (const signal of signals) process.off(signal, onSignal);
  };
  for (const signal of signals) process.on(signal, onSignal);
  return forget;
}
