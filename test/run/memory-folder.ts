import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import path from "node:path";

/** Twice what the databases of all lanes need. */
const requiredBytes = 4 * 2 ** 30;

/**
 * Creates a folder in memory for the temporary files of the tests: a server flushes every write, which takes a disk milliseconds.
 * Returns undefined if `TMPDIR` is set, or if the system has no such folder with enough room that may hold programs.
 */
export function newMemoryFolder(): string | undefined {
  const parent = "/dev/shm";
  if (process.env.TMPDIR || !existsSync(parent)) return undefined;
  const { bavail, bsize } = statfsSync(parent);
  if (bavail * bsize < requiredBytes) return undefined;
  const folder = mkdtempSync(`${parent}/gatehouse-tests-`);
  // PostgreSQL runs as another user if the tests run as root.
  chmodSync(folder, 0o711);
  if (mayHoldPrograms(folder)) return folder;
  rmSync(folder, { recursive: true });
  return undefined;
}

function mayHoldPrograms(folder: string): boolean {
  const program = path.join(folder, "program");
  writeFileSync(program, "#!/bin/sh\n", { mode: 0o700 });
  try {
    execFileSync(program);
    return true;
  } catch {
    return false;
  }
}
