// Checks that the files of an open SQLite database were not moved. A file that was deleted or replaced still accepts
// writes, which are lost when the process ends.
import { type Stats, statSync } from "node:fs";
import { StorageReadOnly } from "../errors.ts";

/** The database, its write-ahead log, and the shared index of the log, which holds the locks between processes. */
const suffixes = ["", "-wal", "-shm"];

/**
 * Creates the check for a database that was just opened. It throws StorageReadOnly if one of the paths leads to another
 * file or to none. It takes some microseconds.
 */
export function newFileCheck(file: string): () => void {
  const opened = suffixes.map((suffix) => ({ path: file + suffix, stats: find(file + suffix) }));
  return () => {
    for (const { path, stats } of opened) if (!isSameFile(find(path), stats)) throw moved();
  };
}

function isSameFile(one: Stats | undefined, other: Stats | undefined): boolean {
  return one !== undefined && one.ino === other?.ino && one.dev === other.dev;
}

/** Returns undefined if the file does not exist. */
function find(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (cause) {
    throw moved(cause);
  }
}

function moved(cause?: unknown): StorageReadOnly {
  return new StorageReadOnly("the database file was deleted, moved or replaced while the server had it open", {
    cause,
  });
}
