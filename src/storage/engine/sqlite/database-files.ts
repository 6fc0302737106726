// Whether the files of an open SQLite database are still where they were opened. A file that is deleted or replaced goes on
// taking writes, which nobody finds any more once the process ends.
import { type Stats, statSync } from "node:fs";
import { StorageReadOnly } from "../errors.ts";

/** The database, its write-ahead log, and the index of that by which other processes agree on their locks. */
const suffixes = ["", "-wal", "-shm"];

/**
 * Makes the check of a database that has just been opened. It throws StorageReadOnly while one of the paths leads to another
 * file than then, or to none, and costs some microseconds.
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

/** Undefined where there is no such file any more. */
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
