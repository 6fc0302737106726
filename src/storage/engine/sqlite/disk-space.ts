// Tells whether the disk of a SQLite file is full, by writing to the database: only that knows of quotas and of space in the log.
import { statfsSync } from "node:fs";
import path from "node:path";
import { driverCode, StorageReadOnly } from "../errors.ts";

/** The free space from which a check writes, in bytes. */
const lowBytes = 4 * 2 ** 20;

/** The space of a disk. */
export interface DiskSpace {
  /** Reports that a write failed for a full disk. */
  noteFull(): void;
  /** Rejects with StorageReadOnly while a write fails for a full disk. Writes only if one failed before, or little space is left. */
  check(): Promise<void>;
}

/** Creates the check. `write` writes a page. */
export function newDiskSpace(file: string, write: () => Promise<void>): DiskSpace {
  let hasFailed = false;
  let running: Promise<void> | undefined;

  async function attempt(): Promise<void> {
    try {
      await write();
      hasFailed = false;
    } catch (cause) {
      if (driverCode(cause) !== "SQLITE_FULL") throw cause;
      throw new StorageReadOnly("the disk of the database is full", { cause });
    }
  }

  return {
    noteFull() {
      hasFailed = true;
    },
    async check() {
      if (!hasFailed && !isLow(file)) return;
      // Probes that arrive together share one write.
      running ??= attempt().finally(() => {
        running = undefined;
      });
      await running;
    },
  };
}

function isLow(file: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(path.dirname(file));
    return bavail * bsize < lowBytes;
  } catch {
    return false;
  }
}
